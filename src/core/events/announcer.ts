import type { ForgeEvent } from '../../schema/events.ts'
import { isPromise } from '../../schema/steps.ts'
import type { Logger } from '../ports.ts'

/** Hears of one committed event. What it throws, or rejects with, is logged. */
export type Listener = (event: ForgeEvent) => unknown

/** Tells listeners in this process of committed events. Never throws: what is committed stays committed. */
export class Announcer {
  readonly #listeners = new Set<{ readonly hear: Listener }>()
  readonly #logger: Logger

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
  announce(events: readonly ForgeEvent[]): void {
    for (const event of events) {
      for (const listener of [...this.#listeners]) this.#tell(listener.hear, event)
    }
  }

  /** Logs that events could not be told; they are in the outbox all the same. */
  lost(error: unknown): void {
    this.#logger.error('committed events could not be announced', { error })
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
