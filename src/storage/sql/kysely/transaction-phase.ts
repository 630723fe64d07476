/** How far the work in a transaction came: that tells what the error means which the transaction ended with. */
export class TransactionPhase {
  #point: 'begin' | 'work' | 'commit' = 'begin'
  #error: unknown

  /** What was on when the transaction ended. */
  get point(): 'begin' | 'work' | 'commit' {
    return this.#point
  }

  /** What the work threw. */
  get error(): unknown {
    return this.#error
  }

  /** Runs the work. */
  async follow<T>(work: () => Promise<T>): Promise<T> {
    this.#point = 'work'
    try {
      const value = await work()
      this.#point = 'commit'
      return value
    } catch (error) {
      this.#error = error
      throw error
    }
  }
}
