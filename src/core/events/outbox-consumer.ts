import { closedError, isForgeError } from '../../schema/errors.ts'
import type { ForgeEvent } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { Consumer, EventStore } from '../../storage/contract/events.ts'
import type { OpenTransaction } from '../call.ts'
import type { Logger } from '../ports.ts'

/**
 * Handles a batch of events, in order. When the handler returns or resolves, the consumer's cursor moves past the
 * batch. When it throws or rejects, or its process dies, the same events are delivered again.
 */
export type EventHandler = (
  events: readonly ForgeEvent[],
  /** `signal` aborts when the consumer must stop or has lost its lease. */
  context: { readonly signal: AbortSignal },
) => MaybePromise<void>

/** The timing and the batch size of one consumer. */
export interface ConsumerPace {
  readonly leaseMilliseconds: number
  readonly pollMilliseconds: number
  /** The maximum number of events in a batch. */
  readonly batch: number
}

/** What a consumer needs. */
interface ConsumerParts {
  readonly events: Pick<EventStore<OpenTransaction>, 'read' | 'claim' | 'advance' | 'release'>
  readonly consumer: Consumer
  readonly handler: EventHandler
  readonly pace: ConsumerPace
  /** Notified when this process has committed events. */
  readonly wakeUp: WakeUp
  readonly logger: Logger
}

/** The number of renewals per lease duration. The lease is still held after two failed renewals. */
const RENEWALS = 3
const MAX_PAUSE_MS = 60_000
/**
 * How long a closing forge waits for handlers. The wait is limited because a handler that awaits `close()` never ends.
 */
const MAX_CLOSE_WAIT_MS = 5000

/** The running consumers of one forge. They stop when the forge closes. */
export class RunningConsumers {
  readonly #running = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * Runs a consumer until the caller's signal aborts or the forge closes.
   *
   * @param consume - consumes until its signal aborts
   * @throws ForgeError `STORAGE_UNAVAILABLE` when the forge is closed
   */
  async run(name: string, signal: AbortSignal, consume: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stop = this.#stop.signal
    if (stop.aborted) throw closedError('the forge is closed')

    const running = consume(AbortSignal.any([signal, stop]))
    this.#running.add(running)
    try {
      await running
    } catch (error) {
      if (!stop.aborted || !isClosed(error)) throw error
      this.#logger.warn('the forge was closed before a consumer ended: its last events are delivered again', {
        consumer: name,
        error,
      })
    } finally {
      this.#running.delete(running)
    }
  }

  /** Stops all consumers. Waits for running handlers, for five seconds at most. Never rejects. */
  async end(): Promise<void> {
    this.#stop.abort()
    const ended = Promise.allSettled(this.#running)
    const enough = new AbortController()
    await Promise.race([ended, new WakeUp().wait(MAX_CLOSE_WAIT_MS, enough.signal)])
    enough.abort()
  }
}

/**
 * Consumes the outbox as a named consumer, until the signal aborts. While this process holds the lease of the name, it passes
 * events to the handler in order and moves the cursor past them. Otherwise it waits. Events are delivered at least once. A
 * batch that is being handled is finished first.
 * Source: docs/storage.md, section 5.
 */
export async function consumeOutbox(
  { events, consumer, handler, pace, wakeUp, logger }: ConsumerParts,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0
  try {
    while (!signal.aborted) await consume()
  } finally {
    await release()
  }

  async function consume(): Promise<void> {
    const seen = wakeUp.count
    try {
      const consumed = await turn()
      if (!consumed) await wakeUp.wait(pace.pollMilliseconds, signal, seen)
    } catch (error) {
      if (!isPassing(error)) throw error
      logger.warn('the outbox cannot be consumed at present', { consumer: consumer.name, error })
      await rest()
    }
  }

  /**
   * Claims the lease and handles one batch. Returns whether to continue without waiting, because more events may exist.
   */
  async function turn(): Promise<boolean> {
    const claim = await events.claim(consumer, pace.leaseMilliseconds)
    if (claim === undefined) return false

    const read = await events.read({ after: claim.cursor, limit: pace.batch })
    if (read.events.length === 0) failures = 0
    if (read.events.length === 0 || signal.aborted) return false
    return (await handle(read.events)) && (await advance(read.cursor))
  }

  /** Calls the handler with a batch and renews the lease meanwhile. Returns whether the handler succeeded. */
  async function handle(batch: readonly ForgeEvent[]): Promise<boolean> {
    const stop = new AbortController()
    const abort = (): void => stop.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const done = new AbortController()
    const renewals = keepLease(stop, done.signal)
    try {
      await handler(batch, { signal: stop.signal })
      failures = 0
      return true
    } catch (error) {
      if (stop.signal.aborted && error === stop.signal.reason) return false
      logger.error('a consumer of events failed; it receives the same events again', { consumer: consumer.name, error })
      await rest()
      return false
    } finally {
      done.abort()
      await renewals
      signal.removeEventListener('abort', abort)
    }
  }

  /**
   * Renews the lease until the handler is done. If another process has taken the lease, aborts the handler's signal.
   */
  async function keepLease(stop: AbortController, done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      await new WakeUp().wait(pace.leaseMilliseconds / RENEWALS, done)
      if (!done.aborted) await renew(stop)
    }
  }

  async function renew(stop: AbortController): Promise<void> {
    try {
      const claim = await events.claim(consumer, pace.leaseMilliseconds)
      if (claim === undefined) stop.abort(new Error('another process has taken the lease of this consumer'))
    } catch {
      // The lease outlasts two failed attempts. If it is lost, moving the cursor fails.
    }
  }

  async function advance(cursor: string): Promise<boolean> {
    const moved = await events.advance(consumer, cursor)
    if (!moved)
      logger.warn('a consumer lost its lease: its last events are delivered again', { consumer: consumer.name })
    return moved
  }

  /** Waits after a failure: longer after each one, up to a minute. New events do not end the wait. */
  async function rest(): Promise<void> {
    failures += 1
    await new WakeUp().wait(Math.min(MAX_PAUSE_MS, pace.pollMilliseconds * 2 ** Math.min(failures, 10)), signal)
  }

  async function release(): Promise<void> {
    try {
      await events.release(consumer)
    } catch (error) {
      const message = 'a consumer could not release its lease: others must wait until it expires'
      logger.warn(message, { consumer: consumer.name, error })
    }
  }
}

function isPassing(error: unknown): boolean {
  return isForgeError(error, 'STORAGE_BUSY') || (isForgeError(error, 'STORAGE_UNAVAILABLE') && !isClosed(error))
}

function isClosed(error: unknown): boolean {
  return isForgeError(error, 'STORAGE_UNAVAILABLE') && error.details.closed === true
}

/** Ends waits early. A wait ends after its timeout, when `notify` is called, or when a signal aborts. */
export class WakeUp {
  readonly #sleepers = new Set<() => void>()
  #count = 0

  /** The number of `notify` calls. Read it before looking for work and pass it to `wait`, so that no call is missed. */
  get count(): number {
    return this.#count
  }

  /** Ends all current waits. */
  notify(): void {
    this.#count += 1
    for (const wake of [...this.#sleepers]) wake()
  }

  /**
   * Waits for at most the given number of milliseconds.
   *
   * @param seen - the value of `count` when the caller last looked for work; returns immediately if it has changed
   */
  wait(milliseconds: number, signal: AbortSignal, seen: number = this.#count): Promise<void> {
    if (signal.aborted || seen !== this.#count) return Promise.resolve()

    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#sleepers.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, milliseconds)
      this.#sleepers.add(wake)
      signal.addEventListener('abort', wake)
    })
  }
}
