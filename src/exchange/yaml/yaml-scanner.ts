import type { ReadLimits } from '../documents/read-options.ts'
import type { Place } from '../documents/record-batch.ts'

/** The bytes of a top-level part of a source: an item, a list in brackets, or the marker of a document. */
export interface RawItem {
  readonly bytes: Uint8Array
  readonly offset: number
  readonly line: number
}

/** Why the bytes after an item cannot be read. */
export interface YamlFault extends Place {
  readonly code: string
  readonly message: string
}

/** How many bytes of a line are needed to know what begins there. */
const LOOKAHEAD = 4
const LINE_FEED = 10
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf]

/**
 * Cuts the bytes of a YAML list into its items. What belongs to an item of a list that is not indented has to be indented
 * itself, so a line that begins with a hyphen begins an item, whatever the item contains.
 */
export class YamlScanner {
  fault: YamlFault | undefined
  readonly #maxBytes: number
  /** The bytes of the item so far. Undefined: outside of items. */
  #item: Uint8Array[] | undefined
  #itemLength = 0
  #itemOffset = 0
  #itemLine = 1
  /** Bytes of a line of which not enough are known. */
  #rest: Uint8Array = new Uint8Array()
  #offset = 0
  #line = 1
  #isLineStart = true
  #isStart = true

  constructor({ maxRecordBytes }: Required<{ [Name in keyof ReadLimits]: number }>) {
    this.#maxBytes = maxRecordBytes
  }

  /** Where the next byte is. */
  get place(): Place {
    return { offset: this.#offset, line: this.#line }
  }

  /** Yields the items that end in a piece. Stops with a fault. */
  *scan(piece: Uint8Array): Generator<RawItem, void, void> {
    yield* this.#lines(joined([this.#rest, piece]), false)
  }

  /** Yields the last item. */
  *end(): Generator<RawItem, void, void> {
    yield* this.#lines(this.#rest, true)
    if (this.fault === undefined) yield* this.#close()
  }

  *#lines(bytes: Uint8Array, isLast: boolean): Generator<RawItem, void, void> {
    if (this.#isStart && bytes.length < BYTE_ORDER_MARK.length && !isLast) {
      this.#rest = bytes.slice()
      return
    }
    let at = this.#isStart ? this.#markLength(bytes) : 0
    while (at < bytes.length) {
      const feed = bytes.indexOf(LINE_FEED, at)
      const end = feed === -1 ? bytes.length : feed + 1
      if (this.#isLineStart) {
        if (feed === -1 && end - at < LOOKAHEAD && !isLast) break
        yield* this.#begin(bytes.subarray(at, end))
        if (this.fault !== undefined) return
      }
      if (!this.#add(bytes.subarray(at, end))) return
      at = end
      this.#isLineStart = feed !== -1
    }
    this.#rest = bytes.slice(at)
  }

  /** Returns how many bytes the byte order mark has, if there is one. */
  #markLength(bytes: Uint8Array): number {
    this.#isStart = false
    if (!BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte)) return 0
    this.#offset = BYTE_ORDER_MARK.length
    return BYTE_ORDER_MARK.length
  }

  /** Decides what a line begins. */
  *#begin(line: Uint8Array): Generator<RawItem, void, void> {
    const head = String.fromCharCode(...line.subarray(0, LOOKAHEAD))
    if (/^(?:-|\[|\.\.\.)/.test(head)) {
      yield* this.#close()
      this.#item = []
      this.#itemOffset = this.#offset
      this.#itemLine = this.#line
    } else if (!/^[\s#]/.test(head) || (this.#item === undefined && /^[ \t]+[^\s#]/.test(head))) {
      yield* this.#close()
      this.#refuse('yaml', 'expected a list that is not indented, with a hyphen before each item')
    }
  }

  #add(bytes: Uint8Array): boolean {
    if (this.#item !== undefined) {
      this.#item.push(bytes.slice()) // the next piece may reuse the memory
      this.#itemLength += bytes.length
      if (this.#itemLength > this.#maxBytes) {
        const place = { offset: this.#itemOffset, line: this.#itemLine }
        this.#refuse('too_large', `expected at most ${this.#maxBytes} bytes in one record`, place)
        return false
      }
    }
    this.#offset += bytes.length
    if (bytes.at(-1) === LINE_FEED) this.#line += 1
    return true
  }

  *#close(): Generator<RawItem, void, void> {
    if (this.#item !== undefined) {
      yield { bytes: joined(this.#item), offset: this.#itemOffset, line: this.#itemLine }
    }
    this.#item = undefined
    this.#itemLength = 0
  }

  #refuse(code: string, message: string, place: Place = this.place): void {
    this.#item = undefined
    this.fault = { code, message, ...place }
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only, ...more] = pieces.filter(({ length }) => length > 0)
  if (only === undefined) return new Uint8Array()
  if (more.length === 0) return only

  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
