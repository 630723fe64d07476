import { closedError } from '../../../schema/errors.ts'
import { unavailable } from '../errors.ts'
import type { RetryLimits } from '../retry.ts'

/** How long a call may take from its start, in milliseconds. */
export const MAX_CALL_MS = 5000

/** How long a call may take once it has run a statement that grows with the data, in milliseconds. */
const MAX_LONG_CALL_MS = 300_000

/** How long one statement of a long call may take, in milliseconds. */
const MAX_STATEMENT_MS = 5000

/**
 * How long the server keeps an open transaction of the storage whose process is silent, in seconds. The process or its
 * machine may be gone without closing the connection, and its locks are held until then. It is longer than a call, which
 * ends its transaction itself.
 */
export const MAX_IDLE_S = 8

/** How long a call waits for locks in total, in milliseconds. */
const MAX_LOCK_WAIT_MS = 4000

/**
 * The time at the end of a call that no lock wait uses, in milliseconds. It is reserved for ROLLBACK and the last
 * answers.
 */
const RESERVE_MS = 1000

/**
 * A statement of a long call that takes longer than this, in milliseconds, counts as waiting for a lock. No lock is
 * waited for shorter.
 */
export const MIN_LOCK_WAIT_MS = 100

/** How often a call is attempted, and the longest pause before another attempt, in milliseconds. */
const MAX_ATTEMPTS = 10
const MAX_PAUSE_MS = 200

/** How a call is limited. */
export interface CallLimits {
  /** From its start to its end, in milliseconds. Infinity for a migration, whose statements have their own limits. */
  readonly total?: number
  /** Ends the call, until its COMMIT is sent. */
  readonly signal?: AbortSignal | undefined
  /** Creates the error for a call that has run out of time. */
  readonly expired?: () => Error
}

/** The deadline of a call, as the drivers use it. */
export interface Deadline {
  /** How long the call may wait for the next lock, in milliseconds. */
  readonly lockWait: number
  /** How long the next statement that grows with the data may take, in milliseconds. */
  readonly longWait: number
  /** Whether the caller has been answered: nothing more may run. */
  readonly isOver: boolean
  /**
   * Runs one statement, or any other request to the database.
   *
   * @param mayTakeLong - whether the duration grows with the data: it is then limited by the call alone, which may take
   * five minutes
   * @throws the error of the call if the call is over
   */
  ask<T>(run: () => Promise<T>, mayTakeLong?: boolean): Promise<T>
  /**
   * Sets the error for a call that runs out of time from now on. A COMMIT that was sent before has been refused.
   *
   * @param error - default: the one that the call began with
   */
  expireWith(error?: () => Error): void
  /**
   * Must be called right before the COMMIT is sent. From now on an aborting signal changes nothing, and a missing
   * answer means that the outcome is unknown.
   *
   * @throws the error of the call if the call is over
   */
  startCommit(): void
  /**
   * Calls a listener if the call ends before its work: the connection must be destroyed. Returns a function that
   * removes the listener.
   */
  onInterrupt(listener: () => void): () => void
}

/** The single deadline of a call. Everything that the call waits for ends by then, and the caller is answered. */
export class CallDeadline implements Deadline {
  /** Where the call is in the list of those that run. */
  place = 0
  readonly #signal: AbortSignal | undefined
  readonly #firstExpired: () => Error
  #listeners: readonly (() => void)[] = []
  #reject: (error: unknown) => void = ignore
  #interruption: { readonly error: unknown } | undefined
  #expired: () => Error
  #end: number
  #waited = 0
  #isLong = false
  #isCommitting = false
  #isDone = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #target = Number.POSITIVE_INFINITY

  constructor({ total = MAX_CALL_MS, signal, expired = noAnswer }: CallLimits = {}) {
    this.#end = performance.now() + total
    this.#signal = signal
    this.#firstExpired = expired
    this.#expired = expired
    this.#isLong = total > MAX_CALL_MS
  }

  /**
   * Runs the call, and answers by its deadline. What the work does after that is ignored.
   *
   * @param answered - called once, before the caller is answered
   * @throws what the work throws; the reason of the signal; the error of an expired call
   */
  run<T>(
    work: (deadline: this) => Promise<T>,
    answered: (deadline: this, error?: unknown) => void = ignore,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = (error?: unknown): void => {
        if (this.#isDone) return
        this.#finish()
        answered(this, error)
      }
      this.#reject = (error) => {
        end(error)
        reject(error)
      }
      try {
        this.#refuseOver()
        this.#signal?.throwIfAborted()
        this.#signal?.addEventListener('abort', this.#abort)
        this.#arm(this.#end)
        work(this).then((value) => {
          end()
          resolve(value)
        }, this.#reject)
      } catch (error) {
        this.#reject(error)
      }
    })
  }

  /** Ends the call now, with this error. */
  interrupt(error: unknown): void {
    if (this.#interruption !== undefined) return

    this.#interruption = { error }
    this.#reject(error)
    for (const listener of this.#listeners) listener()
  }

  /** Ends the call because the storage is closed. The outcome is unknown if its COMMIT was sent. */
  close(): void {
    this.interrupt(this.#isCommitting ? outcomeUnknown() : closedError('the storage was closed'))
  }

  get lockWait(): number {
    return Math.max(MIN_LOCK_WAIT_MS, this.#lockTime)
  }

  get longWait(): number {
    return this.#isLong ? this.#end - performance.now() : MAX_LONG_CALL_MS
  }

  get isOver(): boolean {
    return this.#interruption !== undefined
  }

  /** The error with which the call would expire now. */
  expiry(): Error {
    return this.#expired()
  }

  /** Returns whether another attempt can begin after a pause of the given milliseconds. */
  hasTimeAfter(pause: number): boolean {
    return this.#lockTime > pause && !this.isOver
  }

  /** How the work of the call is repeated after a definite abort. */
  get retries(): RetryLimits {
    return {
      hasTimeAfter: (pause) => this.hasTimeAfter(pause),
      maxAttempts: MAX_ATTEMPTS,
      maxPause: MAX_PAUSE_MS,
    }
  }

  ask<T>(run: () => Promise<T>, mayTakeLong = false): Promise<T> {
    if (this.#interruption !== undefined) return Promise.reject(this.#interruption.error)
    return mayTakeLong || this.#isLong ? this.#askLong(run, mayTakeLong) : run()
  }

  expireWith(error: () => Error = this.#firstExpired): void {
    this.#expired = error
    this.#isCommitting = false
  }

  startCommit(): void {
    this.#refuseOver()
    this.#isCommitting = true
    this.#expired = outcomeUnknown
  }

  onInterrupt(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener]
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener)
    }
  }

  readonly #abort = (): void => {
    if (!this.#isCommitting) this.interrupt(this.#signal?.reason)
  }

  #finish(): void {
    this.#isDone = true
    this.#arm(Number.POSITIVE_INFINITY)
    this.#signal?.removeEventListener('abort', this.#abort)
  }

  async #askLong<T>(run: () => Promise<T>, mayTakeLong: boolean): Promise<T> {
    const start = performance.now()
    if (mayTakeLong) this.#lengthen(start)
    this.#arm(mayTakeLong ? this.#end : Math.min(this.#end, start + MAX_STATEMENT_MS))
    try {
      return await run()
    } finally {
      this.#rest(mayTakeLong ? 0 : performance.now() - start)
    }
  }

  #refuseOver(): void {
    if (this.#interruption !== undefined) throw this.#interruption.error
  }

  get #lockTime(): number {
    return Math.min(MAX_LOCK_WAIT_MS - this.#waited, this.#end - performance.now() - RESERVE_MS)
  }

  #lengthen(now: number): void {
    if (this.#isLong) return
    this.#isLong = true
    this.#end = now + MAX_LONG_CALL_MS
  }

  #rest(duration: number): void {
    if (duration > MIN_LOCK_WAIT_MS && Number.isFinite(this.#end)) this.#waited += duration
    this.#arm(this.#end)
  }

  #arm(target: number): void {
    if (target === this.#target) return

    clearTimeout(this.#timer)
    this.#target = target
    if (target === Number.POSITIVE_INFINITY || this.#isDone || this.isOver) return
    // An answer may have arrived while the event loop was busy: it is read before the setImmediate callback runs.
    const expire = (): void => void setImmediate(() => this.#target === target && this.interrupt(this.expiry()))
    this.#timer = setTimeout(expire, Math.max(0, target - performance.now()))
  }
}

/** No deadline. Used for statements that are sent after a call has ended, and that no caller waits for. */
export const NO_DEADLINE: Deadline = {
  lockWait: MAX_LOCK_WAIT_MS,
  longWait: MAX_LONG_CALL_MS,
  isOver: false,
  ask: (run) => run(),
  expireWith: ignore,
  startCommit: ignore,
  onInterrupt: () => ignore,
}

function noAnswer(): Error {
  return unavailable('the database did not answer within five seconds')
}

function outcomeUnknown(): Error {
  return unavailable('the database did not answer the COMMIT: the change may be committed', undefined, 'unknown')
}

function ignore(): void {}
