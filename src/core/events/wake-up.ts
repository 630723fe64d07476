/** Wakes whoever waits: a pause that ends when its time is over, when it is rung, or when a signal aborts. */
export class WakeUp {
  readonly #sleepers = new Set<() => void>()
  #rings = 0

  /** How often it was rung. Read it before looking for work, and give it to `pause`: a ring in between is not lost then. */
  get rings(): number {
    return this.#rings
  }

  /** Ends every pause that is going on. */
  notify(): void {
    this.#rings += 1
    for (const wake of [...this.#sleepers]) wake()
  }

  /**
   * Waits so many milliseconds at most.
   *
   * @param seen - `rings` as it was when the caller last looked for work; after a later ring there is nothing to wait for
   */
  wait(milliseconds: number, signal: AbortSignal, seen: number = this.#rings): Promise<void> {
    if (signal.aborted || seen !== this.#rings) return Promise.resolve()

    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#sleepers.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, milliseconds)
      this.#sleepers.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}
