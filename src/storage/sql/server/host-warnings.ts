/** Mistakes of the host that fail no call. Each is reported once, also to a listener that is added later. */
export class HostWarnings {
  readonly #listeners = new Set<(message: string) => void>()
  readonly #reported = new Set<string>()

  /** Calls a listener with each warning. */
  listen(listener: (message: string) => void): void {
    this.#listeners.add(listener)
    for (const message of this.#reported) listener(message)
  }

  /** Reports a mistake the first time it occurs. */
  report(message: string): void {
    if (this.#reported.has(message)) return

    this.#reported.add(message)
    for (const listener of this.#listeners) listener(message)
  }
}

/** The warning for a pooled connection on which the host left a transaction open. */
export const LEFT_OPEN: string =
  'the host left a transaction open on a connection that it returned to the pool; the storage rolled it back: ' +
  'commit or roll back before releasing the connection'
