/** Reads the fields of an SSH message in order (RFC 4251, section 5); every read is undefined once the bytes run out. */
export class SshFields {
  #rest: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#rest = bytes
  }

  /** Whether every byte has been read. */
  get done(): boolean {
    return this.#rest.length === 0
  }

  /** The next bytes, as many as asked for. */
  take(length: number): Uint8Array | undefined {
    if (length > this.#rest.length) return undefined

    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }

  /** A 32-bit unsigned integer. */
  uint32(): number | undefined {
    const bytes = this.take(4)
    return bytes && new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)
  }

  /** A string of bytes, which its length stands before. */
  string(): Uint8Array | undefined {
    const length = this.uint32()
    return length === undefined ? undefined : this.take(length)
  }

  /** A string of bytes, as text in which every byte is one character. */
  name(): string | undefined {
    const bytes = this.string()
    return bytes && Buffer.from(bytes).toString('latin1')
  }
}
