import { ByteBuffer } from '../documents/byte-source.ts'
import type { BytePosition } from '../documents/source-record.ts'
import { DEFAULT_RECORD_BYTES, MAX_DEPTH, MAX_RECORD_BYTES, Unreadable } from '../documents/source-record.ts'

/** The bytes of one record of a source. They are only valid until the next piece is scanned. */
export interface RawRecord {
  readonly bytes: Uint8Array
  readonly position: BytePosition
  /** How many colons it has outside of texts: as many as properties, unless one occurs twice. */
  readonly colons: number
}

const [TAB, LINE_FEED, CARRIAGE_RETURN, BLANK, QUOTE, COMMA, COLON, BACKSLASH] = [9, 10, 13, 32, 34, 44, 58, 92]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]
/** The mark of UTF-8. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
/** How far a text is read byte by byte: most texts are short, and `indexOf` is only faster for the others. */
const NEAR = 32
/** No UTF-8 has a byte from here on. */
const NOT_UTF8 = 0xf8

/**
 * Finds the records in the bytes of a source, whatever pieces they come in: the elements of an array, of arrays one after
 * the other (`gh api --paginate`) or in an array (`--slurp`), and objects one after the other. It checks only what is
 * between records, and how deep and how long they are; JSON.parse checks the rest.
 */
export class RecordScanner {
  readonly #maxBytes: number | undefined
  /** How many arrays are open around the records: up to two. */
  #level = 0
  #expected: 'source' | 'more' | 'record' | 'record or end' | 'comma or end' = 'source'
  /** Of the first byte of the piece. */
  #offset = 0
  #line = 1
  // The record that has begun and not ended.
  #begun: BytePosition | undefined
  /** Its bytes in earlier pieces. */
  readonly #earlier = new ByteBuffer()
  #depth = 0
  #colons = 0
  #isWord = false
  #isInText = false
  #isEscaped = false

  constructor(maxRecordBytes: number | undefined) {
    this.#maxBytes = maxRecordBytes
  }

  /** Yields the records that a piece completes. @param piece - the first one has the whole mark @throws Unreadable */
  *scan(piece: Uint8Array): Generator<RawRecord, void, void> {
    const isMarked = this.#offset === 0 && BYTE_ORDER_MARK.every((byte, at) => byte === piece[at])
    for (let at = isMarked ? BYTE_ORDER_MARK.length : 0; at < piece.length; ) {
      const start = this.#begun === undefined ? this.#between(piece, at) : at
      if (this.#begun === undefined) break
      at = this.#inside(piece, start)
      const bytes = piece.subarray(start, at)
      const isOpen = this.#depth > 0 || this.#isInText || (this.#isWord && at === piece.length)
      const maxBytes = this.#maxBytes ?? (this.#level === 0 ? MAX_RECORD_BYTES : DEFAULT_RECORD_BYTES)
      if (this.#earlier.length + bytes.length > maxBytes) throw Unreadable.tooLarge(maxBytes, this.#begun)
      if (isOpen || this.#earlier.length > 0) this.#earlier.append(bytes)
      if (isOpen) break
      const whole = this.#earlier.length > 0 ? this.#earlier.take() : bytes
      yield { bytes: whole, position: this.#begun, colons: this.#colons }
      this.#begun = undefined
    }
    this.#offset += piece.length
  }

  /** Checks that the source may end here. @param mayBeEmpty - whether it may have no record @throws Unreadable */
  end(mayBeEmpty: boolean): void {
    if (this.#begun !== undefined) throw new Unreadable('truncated', 'the source ends within this record', this.#begun)
    const isEmpty = this.#expected === 'source' && this.#level === 0
    if (this.#expected === 'more' || (isEmpty && mayBeEmpty)) return
    const position = { offset: this.#offset, line: this.#line }
    throw new Unreadable('truncated', 'the source is empty or ends within an array', position, false)
  }

  /** Reads up to the next record, and begins it. Returns its index. */
  #between(piece: Uint8Array, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0
      if (byte === LINE_FEED) this.#line += 1
      if (isBlank(byte)) continue
      const offset = this.#offset + at
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
        throw this.#refusal(byte, { offset, line: this.#line })
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
      if (depth > MAX_DEPTH) {
        const position = { offset: this.#offset + at - 1, line: this.#line }
        throw new Unreadable('depth', `expected at most ${MAX_DEPTH} lists and objects inside each other`, position)
      }
    }
    this.#depth = depth
    this.#colons = colons
    return at
  }

  /** Reads up to the closing quote of a text. Returns the index behind it, or the end of the piece. */
  #text(piece: Uint8Array, from: number): number {
    let at = this.#isEscaped ? from + 1 : from
    for (;;) {
      const near = Math.min(at + NEAR, piece.length)
      while (at < near && piece[at] !== QUOTE) at += piece[at] === BACKSLASH ? 2 : 1
      if (at < near || at >= piece.length) break

      const quote = piece.indexOf(QUOTE, at)
      const end = quote === -1 ? piece.length : quote
      let backslashes = 0
      while (end - backslashes > at && piece[end - backslashes - 1] === BACKSLASH) backslashes += 1
      at = end + (backslashes % 2) // every second backslash escapes what is behind it
      if (at === quote) break
    }
    this.#isInText = at >= piece.length
    this.#isEscaped = at > piece.length
    return Math.min(at + 1, piece.length)
  }

  #refusal(byte: number, position: BytePosition): Unreadable {
    const refusal = (code: string, message: string): Unreadable => new Unreadable(code, message, position, false)
    if (byte >= NOT_UTF8) return refusal('utf8', 'expected UTF-8')
    if (this.#expected === 'more') return refusal('trailing_data', 'expected the end, or another record or array')
    if (this.#expected === 'source') return refusal('json', 'expected an array of records, or one on each line')
    return refusal('json', `expected a ${this.#expected} of the array`)
  }
}

/** Returns whether a byte may begin a record that is not an object: it is reported as one that is not valid. */
function isBeginning(byte: number): boolean {
  return byte < 0x80 && byte !== COMMA && byte !== COLON && byte !== CLOSE_ARRAY && byte !== CLOSE_OBJECT
}

function isEndOfWord(byte: number): boolean {
  return isBlank(byte) || [COMMA, QUOTE, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT].includes(byte)
}

/** Returns whether a byte is one of the four blanks of JSON. */
function isBlank(byte: number | undefined): boolean {
  return byte === BLANK || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB
}
