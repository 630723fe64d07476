import type { ForgeEvent } from '../../schema/events.ts'
import type { Logger } from '../ports.ts'

/** Tells listeners in this process of committed events. */
export class Announcer {
  readonly #listeners = new Set<{ readonly hear: (event: ForgeEvent) => void }>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Adds a listener, and gives back the way to remove it. */
  on(listener: (event: ForgeEvent) => void): () => void {
    const entry = { hear: listener }
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /** Tells every listener of every event, in order; one that throws is logged and stops nobody. */
  announce(events: readonly ForgeEvent[]): void {
    for (const event of events) {
      for (const listener of [...this.#listeners]) this.#tell(listener, event)
    }
  }

  #tell(listener: { readonly hear: (event: ForgeEvent) => void }, event: ForgeEvent): void {
    try {
      listener.hear(event)
    } catch (error) {
      this.#logger.error('an event listener threw', { error, event: event.id, type: event.type })
    }
  }
}
