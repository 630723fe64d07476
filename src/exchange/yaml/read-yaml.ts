import { invalidDocument } from '../../schema/invalid-document.ts'
import { ByteBuffer } from '../documents/byte-buffer.ts'
import type { Bytes } from '../documents/byte-source.ts'
import type { Place, RecordBatch } from '../documents/record-batch.ts'
import { DUPLICATE_KEY, halfPairs, placeAfter } from '../documents/record-batch.ts'
import type { ScanLimits } from '../json/record-scanner.ts'

/**
 * Reads the records of a YAML source: the items of a list, or of several lists one after the other. What belongs to an
 * item is indented, so a hyphen at the beginning of a line begins the next one, whatever the item contains, and each item
 * is parsed alone.
 *
 * @param file - the name of the file in violations, if the source has several
 * @throws ForgeError `INVALID_DOCUMENT` at the first item that cannot be read, after all records before it
 */
export async function* readYaml(
  bytes: Bytes,
  { maxRecordBytes, maxDepth }: ScanLimits,
  file: string | undefined,
): AsyncGenerator<RecordBatch, void, void> {
  const cutter = new ItemCutter()
  let first = 0
  const unreadable = (code: string, message: string, { offset, line }: Place): Error =>
    invalidDocument([{ pointer: `/${first}`, code, message, offset, line, ...(file !== undefined && { file }) }])
  const checkLength = (length: number, place: Place): void => {
    if (length <= maxRecordBytes) return
    throw unreadable('too_large', `expected at most ${maxRecordBytes} bytes in one record`, place)
  }
  try {
    const { loadAll, YAMLException } = await import('js-yaml') // only sources that are YAML need it
    const options = { maxAliases: 0, maxDepth: maxDepth + 1 } // the list of records is one level more
    for (;;) {
      const piece = await bytes.next()
      // What a fault cuts off is not a record, although it may be YAML.
      if (piece.done === true && piece.value !== undefined) {
        throw unreadable(piece.value.code, piece.value.message, cutter.place)
      }
      for (const { text, length, place } of piece.done === true ? cutter.end() : cutter.cut(piece.value)) {
        checkLength(length, place)
        if (text === undefined) throw unreadable('utf8', 'expected UTF-8 in this record', place)
        try {
          const records = loadAll(text, options).flatMap(recordsOf)
          if (records.length > 0) yield new YamlBatch(first, records, place, text)
          first += records.length
        } catch (error) {
          if (error instanceof NoList) throw unreadable('yaml', 'expected a list of records', place)
          if (!(error instanceof YAMLException)) throw error
          const at = placeAfter(place, text.slice(0, error.mark?.position ?? 0))
          if (error.reason.startsWith('duplicated')) throw unreadable(DUPLICATE_KEY.code, DUPLICATE_KEY.message, at)
          throw unreadable('yaml', `expected YAML: ${error.reason}`, at)
        }
      }
      checkLength(cutter.length, cutter.place)
      if (piece.done === true) return
    }
  } finally {
    await bytes.return(undefined)
  }
}

class NoList extends Error {}

/** A document between two markers, or behind the last, is null. */
function recordsOf(document: unknown): readonly unknown[] {
  if (document === null || document === undefined) return []
  if (Array.isArray(document)) return document
  throw new NoList()
}

/** The records of one item: one, or those of a list in brackets. */
class YamlBatch implements RecordBatch {
  readonly first: number
  readonly records: readonly unknown[]
  readonly #place: Place
  /** Half of a surrogate pair can only come from an escape. */
  readonly #mayHaveHalfPairs: boolean

  constructor(first: number, records: readonly unknown[], place: Place, text: string) {
    this.first = first
    this.records = records
    this.#place = place
    this.#mayHaveHalfPairs = /\\(?:u|U0000)[dD]/.test(text)
  }

  faults(index: number): ReturnType<RecordBatch['faults']> {
    return this.#mayHaveHalfPairs ? [...halfPairs(this.records[index], [])] : []
  }

  place(): Place {
    return this.#place
  }

  places(_index: number, paths: readonly unknown[]): readonly Place[] {
    return paths.map(() => this.#place)
  }
}

/** A part of a source that is parsed alone. Without a text it is not UTF-8. */
interface Item {
  readonly text: string | undefined
  readonly length: number
  readonly place: Place
}

const LINE_FEED = 10
/** What begins at the left margin: an item or a document (`-`), a list in brackets, the end of a document (`...`). */
const BEGINNINGS: readonly (number | undefined)[] = [45, 91, 46]

/** Cuts the bytes of a source where items begin. */
class ItemCutter {
  /** Of the item that has begun. */
  place: Place = { offset: 0, line: 1 }
  readonly #bytes = new ByteBuffer()
  #isLineStart = true
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  /** How many bytes the item that has begun has so far. */
  get length(): number {
    return this.#bytes.length
  }

  *cut(piece: Uint8Array): Generator<Item, void, void> {
    let from = 0
    let at = this.#isLineStart ? 0 : piece.indexOf(LINE_FEED) + 1 || piece.length
    while (at < piece.length) {
      if (BEGINNINGS.includes(piece[at])) {
        this.#bytes.append(piece.subarray(from, at))
        yield* this.end()
        from = at
      }
      at = piece.indexOf(LINE_FEED, at) + 1 || piece.length
    }
    this.#isLineStart = piece.at(-1) === LINE_FEED
    this.#bytes.append(piece.subarray(from))
  }

  /** Yields the item that has begun, if there is one. */
  *end(): Generator<Item, void, void> {
    if (this.length === 0) return

    const { place, length } = this
    const bytes = this.#bytes.take()
    let lines = 0
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) lines += 1
    this.place = { offset: place.offset + length, line: place.line + lines }
    yield { text: this.#decoded(bytes), length, place }
  }

  #decoded(bytes: Uint8Array): string | undefined {
    try {
      return this.#decoder.decode(bytes)
    } catch {
      return undefined
    }
  }
}
