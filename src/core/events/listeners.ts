import type { ForgeEvent } from '../../schema/events.ts'
import { isPromise } from '../../schema/sync-or-async.ts'
import type { Logger } from '../ports.ts'

/** Hears of one committed event. What it throws, or rejects with, is logged. */
export type Listener = (event: ForgeEvent) => unknown

/** What is announced together; undefined until it is known. */
interface Announcement {
  events: readonly ForgeEvent[] | undefined
}

/**
 * Tells listeners in this process of committed events. Never throws: what is committed stays committed. Every listener gets
 * the events in one order, the order in which they were announced: one that is announced while a listener runs, since that
 * made a change, comes after those before it have reached everyone.
 */
export class Listeners {
  readonly #listeners = new Set<{ readonly hear: Listener }>()
  readonly #announcements: Announcement[] = []
  readonly #logger: Logger
  #isNotifying = false

  /** @param logger - throws nothing */
  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Adds a listener, and gives back the way to remove it. @throws TypeError when it is no function */
  on(listener: Listener): () => void {
    if (typeof listener !== 'function') throw new TypeError('a listener must be a function')

    const entry = { hear: listener }
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /** Tells every listener of every event, in order; one that fails is logged and stops nobody. */
  emit(events: readonly ForgeEvent[]): void {
    this.#announcements.push({ events })
    this.#notifyAll()
  }

  /** As `announce`, for events that are not known yet. Later announcements wait for them. */
  announceLater(events: Promise<readonly ForgeEvent[]>): void {
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

  /** Logs that events could not be told; they are in the outbox all the same. */
  lost(error: unknown): void {
    this.#logger.error('committed events could not be announced', { error })
  }

  #notifyAll(): void {
    if (this.#isNotifying) return // a listener made a change: its turn comes below

    this.#isNotifying = true
    for (let events = this.#next(); events !== undefined; events = this.#next()) {
      for (const event of events) for (const listener of [...this.#listeners]) this.#tell(listener.hear, event)
    }
    this.#isNotifying = false
  }

  /** Takes the first announcement; undefined when there is none, or its events are not known yet. */
  #next(): readonly ForgeEvent[] | undefined {
    const events = this.#announcements[0]?.events
    if (events !== undefined) this.#announcements.shift()
    return events
  }

  #tell(hear: Listener, event: ForgeEvent): void {
    const failed = (error: unknown): void =>
      this.#logger.error('an event listener failed', { error, event: event.id, type: event.type })
    try {
      const answer = hear(event)
      if (isPromise(answer)) Promise.resolve(answer).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
