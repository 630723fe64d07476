import type { ExchangeRecord, SourcePlace } from '../../schema/issue-record.ts'
import type { RecordBatch } from './record-batch.ts'

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

  /** Returns the place of the record in the source that an exchange record came from. */
  placeOf(at: number): SourcePlace | undefined {
    const index = this.#indexes[at]
    if (index === undefined) return undefined
    const file = this.#file === undefined ? undefined : { file: this.#file }
    return { pointer: `/${this.#source.first + index}`, ...this.#source.place(index), ...file }
  }
}
