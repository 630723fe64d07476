import type { Finding, Path, Place, RecordBatch } from '../documents/record-batch.ts'
import { DUPLICATE_KEY, halfPairs } from '../documents/record-batch.ts'
import { CLOSING_BRACKET, OPENING_BRACKET } from './ascii.ts'
import { utf8Decoder } from './decode-utf8.ts'
import type { RawBatch, RecordStart, ScanFault } from './json-scanner.ts'
import type { Sought } from './json-walk.ts'
import { JsonWalk, linesIn, unreadableIn } from './json-walk.ts'

const NO_FAULTS: readonly Finding[] = []
/** Most batches fit. */
const ARRAY_BYTES = 64 * 1024

/** A batch whose bytes were parsed, up to the first record that cannot be. */
export interface ParsedBatch {
  readonly batch: RecordBatch
  readonly fault: ScanFault | undefined
}

/** Parses batches, one after the other. */
export class BatchParser {
  /** A batch as an array: brackets around a text would copy it, which costs more than to copy its bytes. */
  readonly #memory = new Uint8Array(ARRAY_BYTES)
  readonly #decode = utf8Decoder()

  /** Parses the records of a batch. */
  parse(raw: RawBatch): ParsedBatch {
    const text = this.#textOf(raw.bytes)
    const records = text === undefined ? undefined : recordsIn(text)
    if (text === undefined || records === undefined) return this.#parseReadable(raw)

    const isSuspect = countProperties(records) !== raw.colons || mayHaveHalfPairs(text)
    return { batch: new JsonBatch(raw, records, isSuspect), fault: undefined }
  }

  /** Returns the text of an array with these records. Undefined: the bytes are not UTF-8. */
  #textOf(bytes: Uint8Array): string | undefined {
    const length = bytes.length + 2
    const array = length <= ARRAY_BYTES ? this.#memory.subarray(0, length) : new Uint8Array(length)
    array[0] = OPENING_BRACKET
    array.set(bytes, 1)
    array[length - 1] = CLOSING_BRACKET
    return this.#decode(array)
  }

  /** Parses the records before the first one that cannot be read. Every record ends at a comma, a blank or the end. */
  #parseReadable(raw: RawBatch): ParsedBatch {
    const { bytes } = raw
    const walk = new JsonWalk(bytes, 0)
    let count = 0
    let end = 0
    while (walk.next()) {
      const found = unreadableIn(bytes, walk.at, 'whole')
      if (found !== undefined) {
        const { code, message, at } = found
        const start = startOf(raw, count)
        const line = start.line + linesIn(bytes, start.at, at)
        const fault = { record: raw.first + count, code, message, offset: raw.offset + at, line }
        return { batch: this.#readablePart(raw, end), fault }
      }
      walk.value()
      count += 1
      end = walk.at
    }
    throw new TypeError('JSON.parse refuses what the walk accepts')
  }

  #readablePart(raw: RawBatch, end: number): RecordBatch {
    const bytes = raw.bytes.subarray(0, end)
    return new JsonBatch({ ...raw, bytes }, recordsIn(this.#textOf(bytes) ?? '') ?? [], true)
  }
}

function recordsIn(text: string): readonly unknown[] | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Half of a surrogate pair can only come from an escape. */
function mayHaveHalfPairs(text: string): boolean {
  return text.includes('\\u') && (text.includes('\\ud') || text.includes('\\uD'))
}

// If a property occurs twice in an object, the parsed records have fewer properties than the text has colons.
function countProperties(value: object): number {
  let count = 0
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'object' && element !== null) count += countProperties(element)
    return count
  }
  for (const name in value) {
    count += 1
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: a name of the object itself
    const inner: unknown = value[name as keyof typeof value]
    if (typeof inner === 'object' && inner !== null) count += countProperties(inner)
  }
  return count
}

class JsonBatch implements RecordBatch {
  readonly first: number
  readonly records: readonly unknown[]
  readonly #raw: RawBatch
  readonly #isSuspect: boolean

  constructor(raw: RawBatch, records: readonly unknown[], isSuspect: boolean) {
    this.first = raw.first
    this.records = records
    this.#raw = raw
    this.#isSuspect = isSuspect
  }

  faults(index: number): readonly Finding[] {
    if (!this.#isSuspect) return NO_FAULTS

    const duplicates: Path[] = []
    this.#walkOver(index, undefined, duplicates)
    return [...duplicates.map((path) => ({ path, ...DUPLICATE_KEY })), ...halfPairs(this.records[index], [])]
  }

  places(index: number, paths: readonly Path[]): readonly Place[] {
    const { at, line } = startOf(this.#raw, index)
    // An import asks for the place of every record.
    if (paths.every(({ length }) => length === 0)) return paths.map(() => ({ offset: this.#raw.offset + at, line }))

    const root: Sought = { at, inner: new Map() }
    for (const path of paths) seek(root, path)
    this.#walkOver(index, root)
    return this.#placesAt(
      index,
      paths.map((path) => innermost(root, path)),
    )
  }

  #walkOver(index: number, sought: Sought | undefined, duplicates?: Path[]): void {
    new JsonWalk(this.#raw.bytes, startOf(this.#raw, index).at, duplicates).value(sought)
  }

  /** Counts the lines once, however many places there are. */
  #placesAt(index: number, indexes: readonly number[]): readonly Place[] {
    const { bytes, offset } = this.#raw
    const places = new Map<number, Place>()
    let { at: last, line } = startOf(this.#raw, index)
    for (const at of [...indexes].sort((one, other) => one - other)) {
      line += linesIn(bytes, last, at)
      last = at
      places.set(at, { offset: offset + at, line })
    }
    return indexes.flatMap((at) => places.get(at) ?? [])
  }
}

function startOf({ starts }: RawBatch, index: number): RecordStart {
  const start = starts[index]
  if (start !== undefined) return start
  throw new TypeError('the batch has no record of this index')
}

function seek(root: Sought, path: Path): void {
  let sought = root
  for (const step of path) {
    const name = String(step)
    const inner = sought.inner.get(name) ?? { at: -1, inner: new Map() }
    sought.inner.set(name, inner)
    sought = inner
  }
}

function innermost(root: Sought, path: Path): number {
  let { at, inner } = root
  for (const step of path) {
    const next = inner.get(String(step))
    if (next === undefined || next.at === -1) break
    at = next.at
    inner = next.inner
  }
  return at
}
