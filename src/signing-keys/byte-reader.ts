/**
 * Reads binary fields in order. Every read returns `undefined` if the bytes run out or the field is not in its one
 * canonical form.
 */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Whether every byte has been read. */
  get done(): boolean {
    return this.left === 0
  }

  /** The number of bytes left. */
  get left(): number {
    return this.#bytes.length - this.#at
  }

  /** The next byte, without consuming it. */
  get next(): number | undefined {
    return this.#bytes[this.#at]
  }

  /** Reads the next `length` bytes. */
  take(length: number | undefined): Uint8Array | undefined {
    if (length === undefined || length > this.left) return undefined

    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** Reads an unsigned big-endian integer of `size` bytes, 4 at most. */
  unsigned(size: number): number | undefined {
    if (size > this.left) return undefined

    let value = 0
    for (const end = this.#at + size; this.#at < end; this.#at += 1) value = value * 256 + (this.next ?? 0)
    return value
  }

  /** Reads an SSH string: its length in 4 bytes, then its bytes (RFC 4251, section 5). */
  string(): Uint8Array | undefined {
    return this.take(this.unsigned(4))
  }

  /** Reads an SSH string as text in which every byte is one character. */
  name(): string | undefined {
    const bytes = this.string()
    return bytes && Buffer.from(bytes).toString('latin1')
  }

  /** Reads a positive SSH integer, without the zero byte that may precede it. */
  mpint(): Uint8Array | undefined {
    return positive(this.string())
  }

  /** Reads a positive OpenPGP integer: its length in bits in 2 bytes, then its bytes (RFC 9580, section 3.2). */
  mpi(): Uint8Array | undefined {
    const bits = this.unsigned(2) ?? 0
    const bytes = this.take(Math.ceil(bits / 8))
    return bits > 0 && bytes !== undefined && bitLength(bytes) === bits ? bytes : undefined
  }

  /**
   * Reads the content of a DER element, which must have this tag and the shortest length form (X.690, section 10.1).
   */
  element(tag: number): Uint8Array | undefined {
    if (this.unsigned(1) !== tag) return undefined

    const first = this.unsigned(1) ?? 0xff
    if (first < 0x80) return this.take(first)

    const size = first - 0x80
    const length = size <= 3 ? (this.unsigned(size) ?? 0) : 0
    return length >= Math.max(0x80, 256 ** (size - 1)) ? this.take(length) : undefined
  }

  /** Reads a positive DER integer, without the zero byte that may precede it. */
  integer(): Uint8Array | undefined {
    return positive(this.element(0x02))
  }
}

/** Returns the bytes of an integer in the shortest two's complement form, or `undefined` unless it is positive. */
function positive(bytes: Uint8Array | undefined): Uint8Array | undefined {
  const [first = 0x80, second = 0] = bytes ?? []
  if (first === 0) return second >= 0x80 ? bytes?.subarray(1) : undefined
  return first < 0x80 ? bytes : undefined
}

/** The length in bits of a positive integer without leading zero bytes. */
export function bitLength(bytes: Uint8Array): number {
  return 8 * bytes.length - Math.clz32(bytes[0] ?? 0) + 24
}

/** Whether two byte sequences are equal. For public bytes only: the time depends on the content. */
export function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one !== undefined && other !== undefined && Buffer.compare(one, other) === 0
}

/** The bytes in hexadecimal. */
export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

/** Converts the big-endian bytes of a positive integer. */
export function toBigInt(bytes: Uint8Array): bigint {
  return BigInt(`0x0${hex(bytes)}`)
}
