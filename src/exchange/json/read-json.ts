import { invalidDocument } from '../../schema/invalid-document.ts'
import type { Bytes } from '../documents/byte-source.ts'
import type { Finding, Path, Place, RecordBatch } from '../documents/record-batch.ts'
import { halfPairs, placeAfter } from '../documents/record-batch.ts'
import { duplicatesIn, faultIn, indexesOf, unreadableIn } from './json-record.ts'
import type { RawRecord, ScanFault, ScanLimits } from './record-scanner.ts'
import { RecordScanner } from './record-scanner.ts'

/** What lives longer than a few records is collected late. */
const BATCH_CHARACTERS = 16 * 1024
/** So many bytes of a record that does not end are searched for an earlier fault, such as a quote that is missing. */
const EXPLAINED_BYTES = 1024 * 1024

/**
 * Reads the records of a JSON source: the elements of an array, of several arrays one after the other, and of arrays in
 * an array, and objects one after the other.
 *
 * @param file - the name of the file in violations, if the source has several
 * @throws ForgeError `INVALID_DOCUMENT` at the first byte that cannot be read, after all records before it
 */
export async function* readJson(
  bytes: Bytes,
  limits: ScanLimits,
  file: string | undefined,
): AsyncGenerator<RecordBatch, void, void> {
  const scanner = new RecordScanner(limits)
  let first = 0
  try {
    for (;;) {
      const piece = await bytes.next()
      let batch = new JsonBatch(first)
      for (const raw of piece.done === true ? [] : scanner.scan(piece.value)) {
        batch.add(raw)
        if (batch.fault !== undefined) break
        if (batch.characters < BATCH_CHARACTERS) continue
        yield batch
        first += batch.records.length
        batch = new JsonBatch(first)
      }
      if (piece.done === true && piece.value === undefined) scanner.end()
      if (batch.records.length > 0) yield batch
      first += batch.records.length
      const fault = batch.fault ?? (scanner.fault && explained(scanner.fault))
      if (fault !== undefined) throw unreadable(fault, fault.isInRecord ? `/${first}` : '', file)
      if (piece.done !== true) continue
      if (piece.value !== undefined) throw unreadable({ ...piece.value, ...scanner.place }, '', file)
      return
    }
  } finally {
    await bytes.return(undefined)
  }
}

/** Why a source cannot be read any further. */
interface Unreadable extends Place {
  readonly code: string
  readonly message: string
}

function unreadable({ code, message, offset, line }: Unreadable, pointer: string, file: string | undefined): Error {
  return invalidDocument([{ pointer, code, message, offset, line, ...(file !== undefined && { file }) }])
}

type Fault = Unreadable & { readonly isInRecord: boolean }

/** A record that does not end may have a fault before its end. */
function explained(fault: ScanFault): Fault {
  const { record, code } = fault
  const mayHide = record !== undefined && (code === 'truncated' || code === 'too_large')
  const text = mayHide ? new TextDecoder().decode(record.subarray(0, EXPLAINED_BYTES)) : ''
  const at = unreadableIn(text) ?? text.length
  if (at === text.length) return { ...fault, isInRecord: record !== undefined }
  return { code: 'json', message: 'expected JSON', ...placeAfter(fault, text.slice(0, at)), isInRecord: true }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Some records of a piece of a source. */
class JsonBatch implements RecordBatch {
  readonly first: number
  readonly records: unknown[] = []
  fault: Fault | undefined
  characters = 0
  readonly #texts: string[] = []
  readonly #colons: number[] = []
  readonly #places: Place[] = []

  constructor(first: number) {
    this.first = first
  }

  /** Parses a record. Sets the fault if it cannot be read. */
  add({ bytes, colons, offset, line }: RawRecord): void {
    const place = { offset, line }
    let text: string | undefined
    try {
      text = decoder.decode(bytes)
      this.records.push(JSON.parse(text))
    } catch {
      this.fault =
        text === undefined
          ? { code: 'utf8', message: 'expected UTF-8 in this record', ...place, isInRecord: true }
          : {
              code: 'json',
              message: 'expected JSON',
              ...placeAfter(place, text.slice(0, faultIn(text))),
              isInRecord: true,
            }
      return
    }
    this.characters += text.length
    this.#texts.push(text)
    this.#colons.push(colons)
    this.#places.push(place)
  }

  faults(index: number): readonly Finding[] {
    const text = this.#texts[index] ?? ''
    const record = this.records[index]
    const duplicates = countProperties(record) === this.#colons[index] ? NONE : duplicatesIn(text)
    // Half of a surrogate pair can only come from an escape.
    if (!text.includes('\\u') || !/\\u[dD]/.test(text)) return duplicates
    return [...duplicates, ...halfPairs(record, [])]
  }

  place(index: number): Place {
    const place = this.#places[index]
    if (place !== undefined) return place
    throw new TypeError('the batch has no record of this index')
  }

  places(index: number, paths: readonly Path[]): readonly Place[] {
    const text = this.#texts[index] ?? ''
    return indexesOf(text, paths).map((at) => placeAfter(this.place(index), text.slice(0, at)))
  }
}

const NONE: readonly Finding[] = []

/** If a property occurs twice in an object, a record has fewer properties than its text has colons. */
function countProperties(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'object') count += countProperties(element)
    return count
  }
  for (const name in value) {
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: a name of the object itself
    const inner: unknown = value[name as keyof typeof value]
    count += typeof inner === 'object' ? 1 + countProperties(inner) : 1
  }
  return count
}
