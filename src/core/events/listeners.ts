import type { ForgeEvent } from '../../schema/records.ts'
import type { Logger } from '../ports.ts'
import { quietly } from '../quietly.ts'

/** Called with one committed event. Its errors and rejections are logged. */
type Listener = (event: ForgeEvent) => unknown

/**
 * The event listeners of this process. Emitting never throws, because the events are committed already. Every listener
 * gets the events in the same order, in which they were emitted. If a listener makes a change, the events of that
 * change are delivered after all listeners have got the earlier events.
 */
export class Listeners {
  readonly #listeners = new Set<{ readonly notify: Listener }>()
  readonly #queue: (readonly ForgeEvent[])[] = []
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
    this.#queue.push(events)
    if (this.#isNotifying) return // a listener made a change: the loop below, which is running, emits its events

    this.#isNotifying = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      for (const event of next) for (const listener of [...this.#listeners]) this.#notify(listener.notify, event)
    }
    this.#isNotifying = false
  }

  #notify(notify: Listener, event: ForgeEvent): void {
    const failed = (error: unknown): void =>
      this.#logger.error('an event listener failed', { error, event: event.id, type: event.type })
    quietly(() => notify(event), failed)
  }
}
