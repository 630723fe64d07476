import { wireError } from './error-status.ts'

/** The exports and the imports of one API that run at the moment. */
export interface ExchangeSlots {
  readonly exports: Slots
  readonly imports: Slots
}

/** A limited number of slots: what finds none is refused, and does not wait. */
export class Slots {
  readonly #what: keyof ExchangeSlots
  #free: number
  /**
   * Frees slots that were garbage-collected. A host may drop a response without cancelling its body, and Workers never resume a
   * request whose client has disconnected. They have had this class since the compatibility date 2025-05-05.
   */
  readonly #dropped = globalThis.FinalizationRegistry && new FinalizationRegistry<void>(() => this.#release())

  constructor(what: keyof ExchangeSlots, limit: number) {
    this.#what = what
    this.#free = limit
  }

  /**
   * Holds a slot until the work has settled.
   * @throws WireError `EXCHANGE_BUSY`, before the work begins
   */
  async during<T>(work: () => T | Promise<T>): Promise<T> {
    const slot = this.#take()
    try {
      return await work()
    } finally {
      this.#release(slot)
    }
  }

  /**
   * Returns the same bytes. They hold a slot from the first `next` until they end, fail or are ended by `return`.
   * @throws WireError `EXCHANGE_BUSY` at the first `next`, before a byte is produced
   */
  async *duringStream(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    const slot = this.#take()
    try {
      yield* bytes
    } finally {
      this.#release(slot)
    }
  }

  /** Returns an object that is reachable as long as something holds the slot. */
  #take(): object {
    if (this.#free === 0) throw wireError('EXCHANGE_BUSY', `too many ${this.#what} are running, try again`)
    this.#free -= 1
    const slot = {}
    this.#dropped?.register(slot, undefined, slot)
    return slot
  }

  #release(slot?: object): void {
    if (slot !== undefined) this.#dropped?.unregister(slot)
    this.#free += 1
  }
}
