const MAX_BLOCK_BYTES = 1024 * 1024

/** Bytes that are joined once, however many pieces they come in. */
export class Bytes {
  length = 0
  readonly #blocks: Uint8Array[] = []
  /** How many bytes of the last block are free. */
  #free = 0

  append(piece: Uint8Array): void {
    const fits = Math.min(piece.length, this.#free)
    if (fits > 0) this.#blocks.at(-1)?.set(piece.subarray(0, fits), (this.#blocks.at(-1)?.length ?? 0) - this.#free)
    this.#free -= fits
    this.length += fits
    if (fits === piece.length) return

    const rest = piece.subarray(fits)
    const block = new Uint8Array(Math.max(rest.length, Math.min(this.length, MAX_BLOCK_BYTES)))
    block.set(rest)
    this.#blocks.push(block)
    this.#free = block.length - rest.length
    this.length += rest.length
  }

  /** Returns the first bytes, all by default, and begins again with none. */
  take(most: number = this.length): Uint8Array {
    const length = Math.min(most, this.length)
    const joined = new Uint8Array(length)
    let at = 0
    for (const block of this.#blocks) {
      if (at >= length) break
      joined.set(block.subarray(0, length - at), at)
      at += block.length
    }
    this.#blocks.length = 0
    this.#free = 0
    this.length = 0
    return joined
  }
}
