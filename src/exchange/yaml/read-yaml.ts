import { invalidDocument } from '../../schema/invalid-document.ts'
import type { Bytes } from '../documents/byte-source.ts'
import type { ReadLimits } from '../documents/read-options.ts'
import type { Finding, Path, Place, RecordBatch } from '../documents/record-batch.ts'
import type { YamlParsers } from './yaml-item.ts'
import { parseItem, placesInItem } from './yaml-item.ts'
import type { RawItem, YamlFault } from './yaml-scanner.ts'
import { YamlScanner } from './yaml-scanner.ts'

/**
 * Reads the records of a YAML source: the items of a list, or of several lists one after the other. Each item is parsed
 * alone.
 *
 * @param file - the name of the file in violations, if the source has several
 * @throws ForgeError `INVALID_DOCUMENT` at the first byte that cannot be read, after all records before it
 */
export async function* readYaml(
  bytes: Bytes,
  limits: Required<{ [Name in keyof ReadLimits]: number }>,
  file: string | undefined,
): AsyncGenerator<RecordBatch, void, void> {
  const scanner = new YamlScanner(limits)
  let first = 0
  try {
    const yaml = await import('yaml') // only sources that are YAML need it
    for (let piece = await bytes.next(); ; piece = await bytes.next()) {
      // What a fault cuts off is not a record, although it may be YAML.
      if (piece.done === true && piece.value !== undefined) {
        throw unreadable({ ...piece.value, ...scanner.place }, first, file)
      }
      for (const raw of piece.done === true ? scanner.end() : scanner.scan(piece.value)) {
        const batch = new YamlBatch(yaml, raw, first, limits.maxDepth)
        if (batch.fault !== undefined) throw unreadable(batch.fault, first, file)
        if (batch.records.length > 0) yield batch
        first += batch.records.length
      }
      if (scanner.fault !== undefined) throw unreadable(scanner.fault, first, file)
      if (piece.done === true) return
    }
  } finally {
    await bytes.return(undefined)
  }
}

function unreadable(fault: YamlFault, record: number, file: string | undefined): Error {
  return invalidDocument([{ pointer: `/${record}`, ...fault, ...(file !== undefined && { file }) }])
}

/** The records of one item. */
class YamlBatch implements RecordBatch {
  readonly first: number
  readonly records: readonly unknown[]
  readonly fault: YamlFault | undefined
  readonly #yaml: YamlParsers
  readonly #raw: RawItem
  readonly #maxDepth: number
  readonly #places: readonly Place[]
  readonly #findings: readonly (readonly Finding[])[]

  constructor(yaml: YamlParsers, raw: RawItem, first: number, maxDepth: number) {
    const { records, places, findings, fault } = parseItem(yaml, raw, maxDepth)
    this.first = first
    this.records = records
    this.fault = fault
    this.#yaml = yaml
    this.#raw = raw
    this.#maxDepth = maxDepth
    this.#places = places
    this.#findings = findings
  }

  faults(index: number): readonly Finding[] {
    return this.#findings[index] ?? []
  }

  places(index: number, paths: readonly Path[]): readonly Place[] {
    const place = this.#places[index]
    // The places of records are asked for while everything goes well. Another parsing takes long.
    if (place !== undefined && paths.every(({ length }) => length === 0)) return paths.map(() => place)
    return placesInItem(this.#yaml, this.#raw, index, paths, this.#maxDepth)
  }
}
