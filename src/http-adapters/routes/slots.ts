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

  constructor(what: keyof ExchangeSlots, limit: number) {
    this.#what = what
    this.#free = limit
  }

  /**
   * Holds a slot until the work has settled.
   * @throws WireError `EXCHANGE_BUSY`, before the work begins
   */
  async during<T>(work: () => T | Promise<T>): Promise<T> {
    this.#take()
    try {
      return await work()
    } finally {
      this.#free += 1
    }
  }

  /**
   * Returns the same bytes. They hold a slot from the first `next` until they end, fail or are ended by `return`.
   * @throws WireError `EXCHANGE_BUSY` at the first `next`, before a byte is produced
   */
  async *duringStream(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    this.#take()
    try {
      yield* bytes
    } finally {
      this.#free += 1
    }
  }

  #take(): void {
    if (this.#free === 0) throw wireError('EXCHANGE_BUSY', `too many ${this.#what} are running, try again`)
    this.#free -= 1
  }
}
