import { ByteBuffer } from '../documents/byte-buffer.ts'
import type { Place } from '../documents/record-batch.ts'

/** The bytes of one record of a source. They are only valid until the next piece is scanned. */
export interface RawRecord extends Place {
  readonly bytes: Uint8Array
  /** How many colons it has outside of texts: as many as properties, unless one occurs twice. */
  readonly colons: number
}

/** Why a source cannot be read any further. */
export interface ScanFault extends Place {
  readonly code: 'json' | 'utf8' | 'trailing_data' | 'truncated' | 'depth' | 'too_large'
  readonly message: string
  /** The bytes of the record that has begun and not ended. Undefined: the fault is between records. */
  readonly record: Uint8Array | undefined
}

/** What a source may have at most. */
export interface ScanLimits {
  readonly maxRecordBytes: number
  readonly maxDepth: number
}

const [LINE_FEED, BLANK, QUOTE, COMMA, COLON, BACKSLASH] = [10, 32, 34, 44, 58, 92]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf]
/** No UTF-8 has a byte from here on. UTF-16 begins with them. */
const NOT_UTF8 = 0xf8

/**
 * Finds the records in the bytes of a source, whatever pieces they come in: the elements of an array, of arrays one after
 * the other (`gh api --paginate`) or in an array (`--slurp`), and objects one after the other. It checks only what is
 * between records; JSON.parse checks the rest.
 */
export class RecordScanner {
  fault: ScanFault | undefined
  readonly #limits: ScanLimits
  /** How many arrays are open around the records: up to two. */
  #level = 0
  #expected: 'source' | 'more' | 'record' | 'record or end' | 'comma or end' = 'source'
  /** Of the first byte of the piece. */
  #offset = 0
  #line = 1
  // The record that has begun and not ended.
  #begun: Place | undefined
  /** Its bytes in earlier pieces. */
  readonly #earlier = new ByteBuffer()
  #depth = 0
  #colons = 0
  #isWord = false
  #isInText = false
  #isEscaped = false

  constructor(limits: ScanLimits) {
    this.#limits = limits
  }

  /** Yields the records that a piece completes. Stops with a fault. */
  *scan(piece: Uint8Array): Generator<RawRecord, void, void> {
    let at = 0
    while (this.fault === undefined && at < piece.length) {
      const start = this.#begun === undefined ? this.#between(piece, at) : at
      if (this.#begun === undefined) break
      at = this.#inside(piece, start)
      const bytes = piece.subarray(start, at)
      const isOpen = this.#depth > 0 || this.#isInText || (this.#isWord && at === piece.length)
      const isTooLarge = this.#earlier.length + bytes.length > this.#limits.maxRecordBytes
      if (isOpen || isTooLarge || this.#earlier.length > 0) this.#earlier.append(bytes)
      if (this.fault === undefined && isTooLarge) {
        this.#fail('too_large', `expected at most ${this.#limits.maxRecordBytes} bytes in one record`, this.#begun)
      }
      if (isOpen || this.fault !== undefined) break
      yield { ...this.#begun, colons: this.#colons, bytes: this.#earlier.length > 0 ? this.#earlier.take() : bytes }
      this.#begun = undefined
    }
    this.#offset += piece.length
  }

  /** Where the next byte is. */
  get place(): Place {
    return { offset: this.#offset, line: this.#line }
  }

  /** Checks that the source may end here. */
  end(): void {
    if (this.#begun !== undefined) this.#fail('truncated', 'the source ends within this record', this.#begun)
    else if (this.#expected !== 'more') {
      this.#fail('truncated', 'the source is empty or ends within an array', this.place)
    }
  }

  /** Reads up to the next record, and begins it. Returns its index. */
  #between(piece: Uint8Array, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0
      if (byte === LINE_FEED) this.#line += 1
      const offset = this.#offset + at
      if (byte <= BLANK || (offset < BYTE_ORDER_MARK.length && byte === BYTE_ORDER_MARK[offset])) continue
      const isTop = this.#level === 0
      const mayBegin = this.#expected !== 'comma or end'
      if (byte === OPEN_ARRAY && this.#level < 2 && mayBegin) {
        this.#level += 1
        this.#expected = 'record or end'
      } else if (byte === CLOSE_ARRAY && !isTop && this.#expected !== 'record') {
        this.#level -= 1
        this.#expected = this.#level === 0 ? 'more' : 'comma or end'
      } else if (byte === COMMA && this.#expected === 'comma or end') {
        this.#expected = 'record'
      } else if (mayBegin && (byte === OPEN_OBJECT || (!isTop && isBeginning(byte)))) {
        this.#expected = isTop ? 'more' : 'comma or end'
        this.#begun = { offset, line: this.#line }
        this.#depth = 0
        this.#colons = 0
        this.#isWord = byte !== QUOTE && byte !== OPEN_OBJECT && byte !== OPEN_ARRAY
        return at
      } else {
        this.#refuse(byte, { offset, line: this.#line })
        break
      }
    }
    return piece.length
  }

  /** Reads up to the end of the record. Returns the index behind it, or the end of the piece. */
  #inside(piece: Uint8Array, from: number): number {
    let at = from
    if (this.#isWord) {
      while (at < piece.length && !isEndOfWord(piece[at] ?? 0)) at += 1
      return at
    }
    if (this.#isInText) {
      at = this.#text(piece, at)
      if (this.#depth === 0) return at
    }
    let [depth, colons] = [this.#depth, this.#colons]
    while (at < piece.length) {
      const byte = piece[at] ?? 0
      at += 1
      if (byte === QUOTE) at = this.#text(piece, at)
      else if (byte === COLON) colons += 1
      else if (byte === LINE_FEED) this.#line += 1
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1
      if (depth === 0) break
      if (depth > this.#limits.maxDepth) {
        const place = { offset: this.#offset + at - 1, line: this.#line }
        this.#fail('depth', `expected at most ${this.#limits.maxDepth} lists and objects inside each other`, place)
        break
      }
    }
    this.#depth = depth
    this.#colons = colons
    return at
  }

  /** Reads up to the closing quote of a text. Returns the index behind it, or the end of the piece. */
  #text(piece: Uint8Array, from: number): number {
    let at = this.#isEscaped ? from + 1 : from
    while (at < piece.length && piece[at] !== QUOTE) at += piece[at] === BACKSLASH ? 2 : 1
    this.#isInText = at >= piece.length
    this.#isEscaped = at > piece.length
    return Math.min(at + 1, piece.length)
  }

  #refuse(byte: number, place: Place): void {
    if (byte >= NOT_UTF8) this.#fail('utf8', 'expected UTF-8', place)
    else if (this.#expected === 'more')
      this.#fail('trailing_data', 'expected the end, or another record or array', place)
    else if (this.#expected === 'source') this.#fail('json', 'expected an array of records, or one on each line', place)
    else this.#fail('json', `expected a ${this.#expected} of the array`, place)
  }

  #fail(code: ScanFault['code'], message: string, place: Place): void {
    const record = this.#begun === undefined ? undefined : this.#earlier.take()
    this.fault = { code, message, ...place, record }
  }
}

/** Returns whether a byte may begin a record that is not an object: it is reported as one that is not valid. */
function isBeginning(byte: number): boolean {
  return byte < 0x80 && byte !== COMMA && byte !== COLON && byte !== CLOSE_ARRAY && byte !== CLOSE_OBJECT
}

function isEndOfWord(byte: number): boolean {
  return (
    byte <= BLANK || byte === COMMA || byte === QUOTE || (byte & 0xdf) === OPEN_ARRAY || (byte & 0xdf) === CLOSE_ARRAY
  )
}
