/** Ends waits early. A wait ends after its timeout, when `notify` is called, or when a signal aborts. */
export class WakeUp {
  readonly #sleepers = new Set<() => void>()
  #count = 0

  /** The number of `notify` calls. Read it before looking for work and pass it to `wait`, so that no call is missed. */
  get count(): number {
    return this.#count
  }

  /** Ends all current waits. */
  notify(): void {
    this.#count += 1
    for (const wake of [...this.#sleepers]) wake()
  }

  /**
   * Waits for at most the given number of milliseconds.
   *
   * @param seen - the value of `count` when the caller last looked for work; returns immediately if it has changed
   */
  wait(milliseconds: number, signal: AbortSignal, seen: number = this.#count): Promise<void> {
    if (signal.aborted || seen !== this.#count) return Promise.resolve()

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
