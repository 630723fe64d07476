/** More memory than this is not kept for the next bytes. */
const KEPT_BYTES = 1024 * 1024

/** Bytes that come in pieces, however small, in one growing memory. */
export class ByteBuffer {
  length = 0
  #memory = new Uint8Array()

  /** Copies a piece behind the bytes that are there. */
  append(piece: Uint8Array): void {
    const length = this.length + piece.length
    if (length > this.#memory.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#memory.length))
      larger.set(this.#memory.subarray(0, this.length))
      this.#memory = larger
    }
    this.#memory.set(piece, this.length)
    this.length = length
  }

  /** Returns the bytes, and begins again with none. They are valid until the next piece is appended. */
  take(): Uint8Array {
    const bytes = this.#memory.subarray(0, this.length)
    this.length = 0
    if (this.#memory.length > KEPT_BYTES) this.#memory = new Uint8Array()
    return bytes
  }
}
