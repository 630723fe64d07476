import { join } from 'node:path'
import type { Violation } from 'forgelet'
import { isForgeError } from 'forgelet'
import type { ExchangeRecord, NotCarried, RecordLocator, SourcePosition } from 'forgelet/exchange'
import { readExchange } from 'forgelet/exchange'
import type { CommandIO } from '../command.ts'
import { CommandError, counted, printable, progress } from '../command.ts'
import type { Source, SourceOptions } from './source.ts'
import { unreadable } from './source.ts'

/** The maximum number of violations that a reading keeps. */
const MAX_VIOLATIONS = 100

/**
 * One reading of a source to its end. It yields the valid records, and finds what is wrong. Every position has its file as the
 * user named it.
 */
export class SourceReading implements AsyncIterable<ExchangeRecord>, RecordLocator {
  readonly #source: Source
  readonly #records: AsyncIterable<ExchangeRecord> & RecordLocator
  readonly #show: ((progress: string) => void) | undefined
  readonly #skipsInvalid: boolean
  readonly #replacesNul: boolean
  /** The texts with NUL in them. */
  #nul: NotCarried | undefined
  /** Whether bytes could not be read. */
  #isCutOff = false
  #issues = 0
  /** The number of records of the source, valid or not. */
  recordCount = 0
  readonly #violations: Violation[] = []
  /** The number of violations. */
  total = 0
  #notCarried: readonly NotCarried[] = []

  /** @param label - what the progress bar says; undefined, or with `--json`: there is no bar */
  constructor(source: Source, options: SourceOptions, io: CommandIO, label: string | undefined) {
    const { from: format, sourceRepo: sourceRepository, confidential, minimized, json, onInvalid, replaceNul } = options
    const showStatus = json || label === undefined ? undefined : io.showStatus
    const beganAt = performance.now()
    this.#source = source
    this.#skipsInvalid = onInvalid === 'skip'
    this.#replacesNul = replaceNul === true
    this.#show = showStatus && ((text) => showStatus(text && `${label} ${text}`))
    this.#records = readExchange(source.opened, {
      format,
      sourceRepository,
      confidential,
      minimized,
      signal: io.stop,
      onInvalid: (violation) => this.#add(violation),
      onNotCarried: (notCarried) => {
        this.#notCarried = notCarried.map((what) => this.#named(what))
      },
      onProgress: ({ records, bytes }) => {
        this.recordCount = records
        const { size } = source.opened
        this.#show?.(progress(counted(this.#issues, 'issue'), bytes, performance.now() - beganAt, size))
      },
    })
  }

  /** What the source has and a record has not. Complete when the records have been read. */
  get notCarried(): readonly NotCarried[] {
    return this.#nul === undefined ? this.#notCarried : [...this.#notCarried, this.#nul]
  }

  /** The first 100 violations, in the order of the source: it is read a little further than its records are used. */
  get violations(): readonly Violation[] {
    const files = [...new Set(this.#violations.map(({ file }) => file))]
    return [...this.#violations].sort((one, other) => {
      return files.indexOf(one.file) - files.indexOf(other.file) || (one.offset ?? 0) - (other.offset ?? 0)
    })
  }

  /** Yields every valid record. @throws CommandError if the source cannot be read; the reason of the signal if the command is stopped */
  async *valid(): AsyncGenerator<ExchangeRecord, void, void> {
    try {
      for await (const record of this.#records) {
        if (record.kind === 'issue') this.#issues += 1
        yield this.#replacesNul ? this.#withoutNul(record) : record
      }
    } catch (error) {
      if (!isForgeError(error, 'INVALID_DOCUMENT')) throw unreadable(this.#source.shown, error)
      // Bytes that cannot be read are the last violation.
      this.#isCutOff = true
      for (const violation of error.details.violations) this.#add(violation)
    } finally {
      this.#show?.('') // messages do not follow the progress bar
    }
  }

  /**
   * Yields the records up to the first violation, and then reads on to find the others; with `--on-invalid skip` every
   * valid record.
   *
   * @throws CommandError (invalid input) with all violations at the end, unless they are skipped; what `valid` throws
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ExchangeRecord, void, void> {
    for await (const record of this.valid()) if (this.total === 0 || this.#skipsInvalid) yield record
    const isRefused = this.#skipsInvalid ? this.#isCutOff : this.total > 0
    if (isRefused) throw new CommandError(1, this.verdict(), this.violations)
  }

  /** Adds a violation of the record that was yielded last, or of an earlier one, with its file as the user named it. */
  refuse(violation: Violation): void {
    this.total += 1
    if (this.#violations.length < MAX_VIOLATIONS) this.#violations.push(violation)
  }

  /** Returns a line that says whether the source is valid. */
  verdict(): string {
    const { shown } = this.#source
    if (this.total === 0) return `${shown} is valid`
    const listed = this.total > MAX_VIOLATIONS ? `, of which the first ${MAX_VIOLATIONS} are listed` : ''
    return `${shown} is not valid: ${counted(this.total, 'violation')}${listed}`
  }

  position(): SourcePosition | undefined {
    const position = this.#records.position()
    return position && this.#named(position)
  }

  greatestLeftOut(): number {
    return this.#records.greatestLeftOut()
  }

  #add(violation: Violation): void {
    this.refuse(this.#named(violation))
  }

  #withoutNul(record: ExchangeRecord): ExchangeRecord {
    const text = JSON.stringify(record)
    if (!text.includes('\\u0000')) return record

    const { pointer = '', file } = this.position() ?? {}
    const { count, ...first } = this.#nul ?? { what: 'nul', count: 0, pointer, ...(file !== undefined && { file }) }
    let texts = 0
    const replaced: ExchangeRecord = JSON.parse(text, (_, value: unknown) => {
      if (typeof value !== 'string' || !value.includes('\0')) return value
      texts += 1
      return value.replaceAll('\0', '\ufffd')
    })
    if (texts > 0) this.#nul = { ...first, count: count + texts }
    return replaced
  }

  #named<T extends { readonly file?: string | undefined }>(position: T): T {
    const { path } = this.#source
    if (path === '-') return position
    // A spread in front of a property makes a hidden class for every position. No position has a file that is undefined.
    if (position.file === undefined) return { file: path, ...position }
    return Object.assign({ ...position }, { file: join(path, position.file) })
  }
}

/** Returns a line for each user whose displayed name alone is known, such as "user-62 is "Mia Moreau"". */
export function displayedNameLines(notCarried: readonly NotCarried[]): readonly string[] {
  const people = notCarried.flatMap(({ people = [] }) => people)
  return people.map(({ name, displayed }) => printable(`${name} is ${JSON.stringify(displayed)}`))
}

/** Returns a line for each kind of thing that is not carried, such as "not carried: due_date (4), first at /17/due_date". */
export function notCarriedLines(notCarried: readonly NotCarried[]): readonly string[] {
  return notCarried.map(({ what, count, pointer, file }) => {
    const position = [file, pointer].filter(Boolean).join(' ')
    return printable(`not carried: ${what} (${count.toLocaleString('en')})${position && `, first at ${position}`}`)
  })
}
