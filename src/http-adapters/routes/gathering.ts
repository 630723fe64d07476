/** The bytes of a body as they come, up to a limit. For adapters. */
export class Gathering {
  readonly #limit: number
  #chunks: Uint8Array[] = []
  #size = 0

  /** @param limit - most bytes to take */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** False: it is too much, and nothing is kept. */
  take(chunk: Uint8Array): boolean {
    this.#size += chunk.length
    if (this.#size > this.#limit) {
      this.#chunks = []
      return false
    }

    this.#chunks.push(chunk)
    return true
  }

  /** All of it; undefined when nothing came. */
  joined(): Uint8Array | undefined {
    if (this.#size === 0) return undefined

    const all = new Uint8Array(this.#size)
    let at = 0
    for (const chunk of this.#chunks) {
      all.set(chunk, at)
      at += chunk.length
    }
    return all
  }
}
