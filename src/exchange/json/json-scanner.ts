import type { ByteFault } from '../documents/byte-source.ts'
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  isBlank,
  isStructural,
  LINE_FEED,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from './ascii.ts'
import { Bytes } from './bytes.ts'
import { linesIn, unreadableIn } from './json-walk.ts'

/** Where a record begins. */
export interface RecordStart {
  /** The index of its first byte in the batch. */
  readonly at: number
  readonly line: number
}

/** The bytes of whole records, separated by commas. */
export interface RawBatch {
  readonly bytes: Uint8Array
  /** Of the first byte. */
  readonly offset: number
  /** Where the records begin, and perhaps one more that is not whole. */
  readonly starts: readonly RecordStart[]
  /** How many records precede the batch. */
  readonly first: number
  /** How many colons the records have outside of texts: as many as properties. */
  readonly colons: number
}

/** Why a source cannot be read any further. */
export interface ScanFault {
  /** The index of the record that cannot be read. Undefined: what cannot be read is between records. */
  readonly record: number | undefined
  readonly code: 'json' | 'utf8' | 'trailing_data' | 'truncated' | 'depth' | 'too_large' | ByteFault['code']
  readonly message: string
  readonly offset: number
  readonly line: number
}

/** What a source may have at most. */
export interface ScanLimits {
  readonly maxRecordBytes: number
  readonly maxDepth: number
}

/** Larger texts leave the processor's cache: JSON.parse of 128 KB at a time is a third slower. */
const BATCH_BYTES = 16 * 1024
/** Space between records is not read any further. */
const MAX_SPACE_BYTES = 1024 * 1024
/** So many bytes of a record that ends in a fault are searched for an earlier fault. */
const EXPLAINED_BYTES = 1024 * 1024
/** So many bytes of a text are checked one by one before its closing quote is searched for. */
const NEAR = 16
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf]

type Expected = 'start' | 'top' | 'value' | 'value or end' | 'separator'

/**
 * Finds the records in the bytes of a source, whatever pieces they come in: the elements of an array, of several arrays
 * one after the other, and of arrays in an array, and objects one after the other. Every byte is read once.
 */
export class JsonScanner {
  /** Set when the source cannot be read any further. */
  fault: ScanFault | undefined
  readonly #limits: ScanLimits
  #expected: Expected = 'start'
  /** How many arrays are open around the records: up to two. */
  #level = 0
  /** Of the first byte of the piece. */
  #offset = 0
  #line = 1
  #markBytes = 0
  /** Records that have begun. */
  #records = 0
  /** Where the last record ended. */
  #lastEnd = 0

  // The record that has begun and not ended.
  #isInRecord = false
  #isWord = false
  #isInText = false
  #isEscaped = false
  #depth = 0
  #colons = 0
  #recordOffset = 0
  #recordLine = 1
  /** The bytes of the record that earlier pieces had. */
  readonly #earlier = new Bytes()

  constructor(limits: ScanLimits) {
    this.#limits = limits
  }

  /** Yields the batches that a piece completes. The piece may be used again once the generator has ended. */
  *scan(piece: Uint8Array): Generator<RawBatch, void, void> {
    let batch: Batch | undefined
    let at = 0
    while (at < piece.length && this.fault === undefined) {
      if (!this.#isInRecord) {
        const open = this.#level
        at = this.#between(piece, at)
        if (batch !== undefined && (this.#level !== open || this.fault !== undefined)) {
          yield batch.raw(piece)
          batch = undefined
        }
        if (!this.#isInRecord) continue
        batch ??= new Batch(at, this.#recordOffset, this.#records - 1)
        batch.begin(at, this.#recordLine)
      }

      at = this.#inside(piece, at)
      if (this.fault !== undefined || this.#isInRecord) break

      this.#lastEnd = this.#offset + at
      if (this.#earlier.length > 0) {
        yield this.#joined(piece.subarray(0, at))
      } else if (batch !== undefined) {
        batch.end = at
        batch.colons += this.#colons
        if (at - batch.start >= BATCH_BYTES || this.#level === 0) {
          yield batch.raw(piece)
          batch = undefined
        }
      }
    }
    if (batch !== undefined && batch.end > batch.start) yield batch.raw(piece)
    if (this.fault !== undefined) this.#explain(piece)
    else if (this.#isInRecord) this.#earlier.append(piece.subarray(Math.max(0, this.#recordOffset - this.#offset)))
    this.#offset += piece.length
  }

  /** Ends the source where its bytes end early. */
  interrupt(code: ByteFault['code'], message: string): void {
    this.#fail(code, message, this.#offset, undefined, this.#line)
  }

  /** Ends the source. Sets the fault if it ends too early. */
  end(): void {
    if (this.#isInRecord) {
      this.#fail('truncated', 'the source ends within this record', this.#recordOffset)
      this.#explain(new Uint8Array())
    } else if (this.#expected === 'start') {
      this.#fail('truncated', 'the source is empty', this.#offset)
    } else if (this.#expected !== 'top') {
      this.#fail('truncated', 'the source ends within an array', this.#offset)
    }
  }

  /** Reads up to the first byte of the next record. Returns its index, or that of the byte after a bracket or comma. */
  #between(piece: Uint8Array, from: number): number {
    const limit = this.#lastEnd + MAX_SPACE_BYTES - this.#offset
    for (let at = from; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0
      if (at >= limit) {
        return this.#failBetween('too_large', 'expected a record within 1 MiB', at)
      }
      if (byte === LINE_FEED) this.#line += 1
      else if (!isBlank(byte)) return this.#token(byte, at)
    }
    return piece.length
  }

  #token(byte: number, at: number): number {
    const isTop = this.#expected === 'start' || this.#expected === 'top'
    if (isTop && byte === OPENING_BRACE) return this.#begin(byte, at)
    if (byte === OPENING_BRACKET && (isTop || (this.#level === 1 && this.#expected !== 'separator'))) {
      this.#level += 1
      this.#expected = 'value or end'
      return at + 1
    }
    if (isTop) return this.#notAtTop(byte, at)
    if (byte === CLOSING_BRACKET && this.#expected !== 'value') {
      this.#level -= 1
      this.#expected = this.#level === 0 ? 'top' : 'separator'
      return at + 1
    }
    if (this.#expected === 'separator') {
      if (byte !== COMMA) return this.#failBetween('json', 'expected a comma or ]', at)
      this.#expected = 'value'
      return at + 1
    }
    if (byte === COMMA || byte === CLOSING_BRACKET) return this.#failBetween('json', 'expected a record', at)
    return this.#begin(byte, at)
  }

  #notAtTop(byte: number, at: number): number {
    if (this.#offset + at === this.#markBytes && byte === BYTE_ORDER_MARK[this.#markBytes]) {
      this.#markBytes += 1
      return at + 1
    }
    if (byte >= 0xfe) return this.#failBetween('utf8', 'expected UTF-8', at)
    if (this.#expected === 'top') {
      return this.#failBetween('trailing_data', 'expected the end, another array or another record', at)
    }
    return this.#failBetween('json', 'expected an array of records, or one record on each line', at)
  }

  #begin(byte: number, at: number): number {
    this.#isInRecord = true
    this.#records += 1
    this.#recordOffset = this.#offset + at
    this.#recordLine = this.#line
    this.#colons = 0
    this.#depth = 0
    this.#isInText = false
    this.#isEscaped = false
    this.#isWord = byte !== OPENING_BRACE && byte !== OPENING_BRACKET && byte !== QUOTE
    this.#expected = this.#level === 0 ? 'top' : 'separator'
    return at
  }

  /** Reads up to the end of the record. Returns the index behind it, or the end of the piece. */
  #inside(piece: Uint8Array, from: number): number {
    const limit = this.#recordOffset + this.#limits.maxRecordBytes - this.#offset
    const end = Math.min(piece.length, limit)
    const at = this.#isWord ? this.#word(piece, from, end) : this.#structure(piece, from, end)
    if (this.#isInRecord && this.fault === undefined && limit < piece.length) {
      const message = `expected at most ${this.#limits.maxRecordBytes} bytes`
      this.#fail('too_large', message, this.#recordOffset, this.#records - 1, this.#recordLine)
    }
    return at
  }

  #word(piece: Uint8Array, from: number, end: number): number {
    const first = this.#recordOffset - this.#offset
    for (let at = from; at < end; at += 1) {
      const byte = piece[at] ?? 0
      if (at !== first && (isBlank(byte) || isStructural(byte))) {
        this.#isInRecord = false
        return at
      }
    }
    return end
  }

  #structure(piece: Uint8Array, from: number, end: number): number {
    let at = from
    if (this.#isInText) {
      at = this.#text(piece, from, end)
      this.#isInRecord = this.#isInText || this.#depth > 0
      if (this.#isInText || !this.#isInRecord) return at
    }
    let depth = this.#depth
    let colons = this.#colons
    let lines = 0
    const { maxDepth } = this.#limits
    while (at < end) {
      const byte = piece[at] ?? 0
      at += 1
      if (byte === QUOTE) {
        // Most texts are short. They are read here, byte by byte.
        const near = Math.min(at + NEAR, end)
        while (at < near && piece[at] !== QUOTE) at += piece[at] === BACKSLASH ? 2 : 1
        if (at < near) {
          at += 1
        } else {
          this.#isInText = true
          at = this.#text(piece, at, end)
          if (this.#isInText) break
        }
        if (depth === 0) {
          this.#isInRecord = false
          break
        }
      } else if (byte === COLON) {
        colons += 1
      } else if (byte === LINE_FEED) {
        lines += 1
      } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) {
        depth += 1
        if (depth > maxDepth) {
          this.#line += lines
          return this.#failBetween('depth', `expected at most ${maxDepth} values inside each other`, at - 1)
        }
      } else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) {
        depth -= 1
        if (depth === 0) {
          this.#isInRecord = false
          break
        }
      }
    }
    this.#depth = depth
    this.#colons = colons
    this.#line += lines
    return at
  }

  /** Reads up to the closing quote of a text. Returns the index behind it, or the end. */
  #text(piece: Uint8Array, from: number, end: number): number {
    let at = from
    if (this.#isEscaped && at < end) {
      this.#isEscaped = false
      at += 1
    }
    while (at < end) {
      // Escaped quotes often follow each other closely, as in a text that quotes JSON.
      const near = Math.min(at + NEAR, end)
      while (at < near && piece[at] !== QUOTE) at += piece[at] === BACKSLASH ? 2 : 1
      if (at < near) {
        this.#isInText = false
        return at + 1
      }
      if (at >= end) break

      const quote = piece.indexOf(QUOTE, at)
      const last = quote === -1 || quote >= end ? end : quote
      const isEscaped = backslashesBefore(piece, last, at) % 2 === 1
      if (last === end) {
        this.#isEscaped = isEscaped
        return end
      }
      at = quote + 1
      if (!isEscaped) {
        this.#isInText = false
        return at
      }
    }
    this.#isEscaped = at > end
    return end
  }

  #joined(rest: Uint8Array): RawBatch {
    this.#earlier.append(rest)
    return {
      bytes: this.#earlier.take(),
      offset: this.#recordOffset,
      starts: [{ at: 0, line: this.#recordLine }],
      first: this.#records - 1,
      colons: this.#colons,
    }
  }

  /** A record that ends in a fault often had another one before, such as a missing quote: that one is reported. */
  #explain(piece: Uint8Array): void {
    if (!this.#isInRecord || this.fault === undefined) return

    const start = this.#recordOffset - this.#offset
    this.#earlier.append(piece.subarray(Math.max(0, start), Math.max(0, start + EXPLAINED_BYTES)))
    const { maxRecordBytes } = this.#limits
    const known = this.fault.code === 'depth' ? this.fault.offset - this.#recordOffset : maxRecordBytes
    const bytes = this.#earlier.take(Math.min(known, EXPLAINED_BYTES))
    const found = unreadableIn(bytes, 0, 'cut off')
    if (found === undefined) return

    const line = this.#recordLine + linesIn(bytes, 0, found.at)
    this.#fail(found.code, found.message, this.#recordOffset + found.at, this.#records - 1, line)
  }

  #failBetween(code: ScanFault['code'], message: string, at: number): number {
    this.#fail(code, message, this.#offset + at)
    return at
  }

  #fail(
    code: ScanFault['code'],
    message: string,
    offset: number,
    record: number | undefined = this.#isInRecord ? this.#records - 1 : undefined,
    line: number = this.#isInRecord && offset === this.#recordOffset ? this.#recordLine : this.#line,
  ): void {
    this.fault = { record, code, message, offset, line }
  }
}

/** Whole records in a piece. */
class Batch {
  readonly start: number
  end: number
  colons = 0
  readonly #offset: number
  readonly #starts: RecordStart[] = []
  readonly #first: number

  constructor(start: number, offset: number, first: number) {
    this.start = start
    this.end = start
    this.#offset = offset
    this.#first = first
  }

  begin(at: number, line: number): void {
    this.#starts.push({ at: at - this.start, line })
  }

  raw(piece: Uint8Array): RawBatch {
    const bytes = piece.subarray(this.start, this.end)
    return { bytes, offset: this.#offset, starts: this.#starts, first: this.#first, colons: this.colons }
  }
}

function backslashesBefore(piece: Uint8Array, end: number, from: number): number {
  let at = end
  while (at > from && piece[at - 1] === BACKSLASH) at -= 1
  return end - at
}
