/** Wakes whoever waits: a pause that ends when its time is over, when it is rung, or when a signal aborts. */
export class Bell {
  readonly #sleepers = new Set<() => void>()

  /** Ends every pause that is going on. */
  ring(): void {
    for (const wake of [...this.#sleepers]) wake()
  }

  /** Waits so many milliseconds at most. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void> {
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
      if (signal.aborted) wake()
    })
  }
}
