import type { ForgeEvent } from '../../schema/records.ts'
import { isPromise } from '../../schema/sync-or-async.ts'
import type { Logger } from '../ports.ts'

/** Called with one committed event. Its errors and rejections are logged. */
export type Listener = (event: ForgeEvent) => unknown

/** Events that are emitted together. Undefined until they are known. */
interface Announcement {
  events: readonly ForgeEvent[] | undefined
}

/**
 * The event listeners of this process. Emitting never throws, because the events are committed already. Every listener
 * gets the events in the same order, in which they were emitted. If a listener makes a change, the events of that
 * change are delivered after all listeners have got the earlier events.
 */
export class Listeners {
  readonly #listeners = new Set<{ readonly notify: Listener }>()
  readonly #announcements: Announcement[] = []
  readonly #logger: Logger
  #isNotifying = false

  /** @param logger - must never throw */
  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Adds a listener and returns a function that removes it. @throws TypeError when the listener is not a function */
  on(listener: Listener): () => void {
    if (typeof listener !== 'function') throw new TypeError('a listener must be a function')

    const entry = { notify: listener }
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /**
   * Calls every listener with every event, in order. A listener that fails is logged, and the others are still called.
   */
  emit(events: readonly ForgeEvent[]): void {
    this.#announcements.push({ events })
    this.#notifyAll()
  }

  /** Like `emit`, for events that are not known yet. Later events wait for them. */
  emitLater(events: Promise<readonly ForgeEvent[]>): void {
    const announcement: Announcement = { events: undefined }
    this.#announcements.push(announcement)
    const settle = (known: readonly ForgeEvent[]): void => {
      announcement.events = known
      this.#notifyAll()
    }
    Promise.resolve(events).then(settle, (error: unknown) => {
      this.lost(error)
      settle([])
    })
  }

  /** Logs that events could not be emitted. They are in the outbox all the same. */
  lost(error: unknown): void {
    this.#logger.error('committed events could not be emitted', { error })
  }

  #notifyAll(): void {
    if (this.#isNotifying) return // a listener made a change: the loop below, which is running, emits its events

    this.#isNotifying = true
    for (let events = this.#next(); events !== undefined; events = this.#next()) {
      for (const event of events) for (const listener of [...this.#listeners]) this.#notify(listener.notify, event)
    }
    this.#isNotifying = false
  }

  /** Removes and returns the first events of the queue. Undefined when the queue is empty or they are not known yet. */
  #next(): readonly ForgeEvent[] | undefined {
    const events = this.#announcements[0]?.events
    if (events !== undefined) this.#announcements.shift()
    return events
  }

  #notify(notify: Listener, event: ForgeEvent): void {
    const failed = (error: unknown): void =>
      this.#logger.error('an event listener failed', { error, event: event.id, type: event.type })
    try {
      const answer = notify(event)
      if (isPromise(answer)) Promise.resolve(answer).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
