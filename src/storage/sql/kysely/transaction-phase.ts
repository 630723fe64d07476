/** Records how far the work in a transaction came. That decides what the error of the transaction means. */
export class TransactionPhase {
  #point: 'begin' | 'work' | 'commit' = 'begin'
  #error: unknown

  /** The phase in which the transaction ended. */
  get point(): 'begin' | 'work' | 'commit' {
    return this.#point
  }

  /** The error of the work. */
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
