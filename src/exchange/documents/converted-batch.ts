import { isObject } from '../../schema/arguments.ts'
import { jsonPointer } from '../../schema/documents/check.ts'
import type { ExchangeRecord, SourcePlace } from '../../schema/issue-record.ts'
import type { Path, RecordBatch } from './record-batch.ts'

/** The exchange records that the records of a batch became. */
export class ConvertedBatch {
  readonly records: ExchangeRecord[] = []
  readonly #source: RecordBatch
  readonly #file: string | undefined
  /** For each exchange record, the index of the record in the batch that it came from. */
  readonly #indexes: number[] = []

  /** @param file - the name of the file, if the source has several */
  constructor(source: RecordBatch, file: string | undefined) {
    this.#source = source
    this.#file = file
  }

  /** Adds what the record at an index of the batch became. */
  add(index: number, records: readonly ExchangeRecord[]): void {
    for (const record of records) {
      this.records.push(record)
      this.#indexes.push(index)
    }
  }

  /**
   * Returns where values of an exchange record are in the source.
   *
   * @param at - the index of the exchange record
   * @param pointers - JSON pointers that begin at the label, milestone, issue or comment
   */
  locate(at: number, pointers: readonly string[]): readonly SourcePlace[] {
    const [converted, index] = [this.records[at], this.#indexes[at]]
    if (converted === undefined || index === undefined) return []

    const source = this.#source.records[index]
    const paths = pointers.map((pointer): Path => {
      if (pointer === '') return []
      const path = pointer.split('/').slice(1)
      return pathInSource(source, path, valueAt(converted, [converted.kind, ...path]))
    })
    const places = this.#source.places(index, paths)
    const record = `/${this.#source.first + index}`
    const file = this.#file === undefined ? undefined : { file: this.#file }
    return paths.map((path, of) => ({ pointer: record + jsonPointer(path), ...places[of], ...file }))
  }
}

/**
 * Returns the path of a converted value in the record of the source: its own path if the value is there, or the first
 * path with the same text or large number, or else the path of the record.
 */
function pathInSource(source: unknown, path: Path, value: unknown): Path {
  if (valueAt(source, path) === value) return path

  const isDistinct = typeof value === 'string' || (typeof value === 'number' && !Number.isSafeInteger(value))
  return (isDistinct ? pathOf(value, source, []) : undefined) ?? []
}

function valueAt(value: unknown, path: Path): unknown {
  let inner = value
  for (const step of path) {
    if (!isObject(inner) || !Object.hasOwn(inner, step)) return undefined
    inner = Reflect.get(inner, step)
  }
  return inner
}

function pathOf(value: unknown, inside: unknown, path: Path): Path | undefined {
  if (inside === value) return path
  if (!isObject(inside)) return undefined

  for (const [name, inner] of Object.entries(inside)) {
    const found = pathOf(value, inner, [...path, name])
    if (found !== undefined) return found
  }
  return undefined
}
