import { jsonPointer } from '../../schema/documents/check.ts'
import { recordChecks } from '../../schema/documents/record-schemas.ts'
import type { Violation } from '../../schema/errors.ts'
import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, NotCarried } from '../../schema/issue-record.ts'
import { MAX_VIOLATIONS } from '../../schema/text.ts'
import type { Findings, Made } from '../forges/forge-format.ts'
import type { ByteObserver } from './byte-source.ts'
import type { ReadOptions } from './read-options.ts'
import type { Finding, Path, Place, RecordBatch } from './record-batch.ts'

const PROGRESS_MS = 100

/** What one reading collects and reports: violations, what is not carried, and how far it is. */
export class Reading implements ByteObserver {
  readonly signal: AbortSignal | undefined
  readonly #options: ReadOptions
  readonly #notCarried = new Map<string, NotCarried>()
  #records = 0
  #bytes = 0
  #reportedAt = performance.now()

  constructor(options: ReadOptions) {
    this.signal = options.signal
    this.#options = options
  }

  read(bytes: number): void {
    this.#bytes += bytes
    if (performance.now() - this.#reportedAt >= PROGRESS_MS) this.#report()
  }

  /** Counts records that were read, valid or not. */
  count(records: number): void {
    this.#records += records
  }

  notCarried(what: string, pointer: string, file: string | undefined, count = 1): void {
    const known = this.#notCarried.get(what) ?? { what, count: 0, pointer, ...(file !== undefined && { file }) }
    this.#notCarried.set(what, { ...known, count: known.count + count })
  }

  /** Reports the violations of a record, or ends the reading with them. */
  refuse(violations: Iterable<Violation>, first: readonly Violation[], total: number): void {
    const { onInvalid } = this.#options
    if (typeof onInvalid !== 'function') throw invalidDocument(first, total)
    for (const violation of violations) onInvalid(violation)
  }

  end(): void {
    const notCarried: readonly NotCarried[] = [...this.#notCarried.values()]
    this.#options.onNotCarried?.(notCarried)
    this.#report()
  }

  #report(): void {
    this.#reportedAt = performance.now()
    this.#options.onProgress?.({ records: this.#records, bytes: this.#bytes })
  }
}

/** Collects what a conversion finds in the records of one file, one record after the other. */
export class RecordFindings implements Findings {
  readonly #reading: Reading
  readonly #file: string | undefined
  #notCarried: { readonly what: string; readonly path: Path; readonly count: number | undefined }[] = []

  constructor(reading: Reading, file: string | undefined) {
    this.#reading = reading
    this.#file = file
  }

  notCarried(what: string, path: Path, count?: number): void {
    this.#notCarried.push({ what, path, count })
  }

  /** Checks what a record became, and reports what was found. Returns undefined if something is not valid. */
  settle(batch: RecordBatch, index: number, made: readonly Made[]): readonly ExchangeRecord[] | undefined {
    const faults = batch.faults(index)
    const record = batch.first + index
    const notCarried = this.#notCarried
    if (notCarried.length > 0) this.#notCarried = []
    if (faults.length === 0 && areRecords(made)) {
      for (const { what, path, count } of notCarried) {
        this.#reading.notCarried(what, jsonPointer([record, ...path]), this.#file, count)
      }
      return made
    }
    const findings = [...faults, ...made.flatMap((each) => [...recordChecks[each.kind].findings(contentOf(each), [])])]
    const first = findings.slice(0, MAX_VIOLATIONS)
    const paths = first.map(({ path }) => path)
    const places = batch.places(index, paths)
    const violations = first.map((finding, at) => this.#violation(record, finding, places[at]))
    this.#reading.refuse(this.#all(record, violations, findings.slice(MAX_VIOLATIONS)), violations, findings.length)
    return undefined
  }

  /** Only the first violations of a record have places: another walk through the record for each hundred would be slow. */
  *#all(record: number, violations: readonly Violation[], rest: readonly Finding[]): Generator<Violation, void, void> {
    yield* violations
    for (const finding of rest) yield this.#violation(record, finding, undefined)
  }

  #violation(record: number, { path, code, message }: Finding, place: Place | undefined): Violation {
    const file = this.#file === undefined ? undefined : { file: this.#file }
    return { pointer: jsonPointer([record, ...path]), code, message, ...place, ...file }
  }
}

function areRecords(made: readonly Made[]): made is readonly ExchangeRecord[] {
  return made.every((each) => recordChecks[each.kind].fits(contentOf(each)))
}

function contentOf(made: Made): unknown {
  return Reflect.get(made, made.kind)
}
