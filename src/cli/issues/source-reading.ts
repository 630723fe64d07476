import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import process from 'node:process'
import { pipeline } from 'node:stream/promises'
import type { ExchangeFormat, ExchangeRecord, NotCarried, RecordLocator, SourcePlace } from '../../exchange/exchange.ts'
import { readExchange } from '../../exchange/exchange.ts'
import type { OpenedSource } from '../../exchange/files.ts'
import { openIssueSource } from '../../exchange/files.ts'
import type { Violation } from '../../index.ts'
import { isForgeError } from '../../index.ts'
import type { CommandIO, ResultOptions } from '../command.ts'
import { CommandError, counted, printable } from '../command.ts'
import { readFailure, systemCode } from '../files.ts'
import type { ProgressBar } from './progress-bar.ts'
import { progressBar } from './progress-bar.ts'

/** The options that say how a source is read. */
export interface SourceOptions extends ResultOptions {
  /** The format; undefined = recognized. */
  readonly from?: ExchangeFormat | undefined
  readonly confidential?: 'keep' | undefined
  readonly minimized?: 'keep' | undefined
  /** Leaves out what is not carried. */
  readonly quiet?: true | undefined
}

/** The source that a command reads, and how. */
export interface Source extends SourceOptions {
  /** A file, a folder, or `-` for standard input. */
  readonly path: string
  /** A copy of the source, which is read in its place. */
  readonly copy?: string | undefined
}

/** The maximum number of violations that a reading keeps. */
const MAX_VIOLATIONS = 100

/** One reading of a source to its end. It counts and finds what is wrong; violations name files as the user did. */
export class SourceReading {
  readonly #options: Source
  readonly #source: OpenedSource
  readonly #stop: AbortSignal
  readonly #bar: ProgressBar
  #reading: RecordLocator | undefined
  /** The number of records of the source, valid or not. */
  recordCount = 0
  /** The first 100 violations. */
  readonly violations: Violation[] = []
  /** The number of violations. */
  total = 0
  notCarried: readonly NotCarried[] = []

  constructor(options: Source, source: OpenedSource, stop: AbortSignal, bar: ProgressBar) {
    this.#options = options
    this.#source = source
    this.#stop = stop
    this.#bar = bar
  }

  /**
   * Yields the records up to the first violation, and then reads on to find the others.
   * @throws CommandError if the source cannot be read, or the command is stopped
   */
  async *records(): AsyncGenerator<ExchangeRecord, void, void> {
    let issues = 0
    const { from: format, confidential, minimized } = this.#options
    const reading = readExchange(this.#source, {
      format,
      confidential,
      minimized,
      signal: this.#stop,
      onInvalid: (violation) => this.#add(violation),
      onNotCarried: (notCarried) => {
        this.notCarried = notCarried.map((what) => ({ ...what, ...this.#file(what.file) }))
      },
      onProgress: ({ records, bytes }) => {
        this.recordCount = records
        this.#bar.update(issues, bytes)
      },
    })
    this.#reading = reading
    try {
      for await (const record of reading) {
        if (record.kind === 'issue') issues += 1
        if (this.total === 0) yield record
      }
    } catch (error) {
      if (this.#stop.aborted) throw new CommandError(3, 'stopped before the end')
      if (systemCode(error) !== undefined) throw unreadable(this.#options, error)
      if (!isForgeError(error, 'INVALID_DOCUMENT')) throw error
      // Bytes that cannot be read are the last violation.
      for (const violation of error.details.violations) this.#add(violation)
    } finally {
      this.#bar.clear()
    }
  }

  /**
   * Returns the records, and where the last of them is, with its file as the user named it.
   * @throws CommandError (invalid input) with the violations at the end, if there are some; what `records` throws
   */
  validRecords(): AsyncIterable<ExchangeRecord> & RecordLocator {
    const place = (): SourcePlace | undefined => {
      const found = this.#reading?.place()
      return found && { ...found, ...this.#file(found.file) }
    }
    return Object.assign(this.#validRecords(), { place })
  }

  async *#validRecords(): AsyncGenerator<ExchangeRecord, void, void> {
    yield* this.records()
    if (this.total > 0) throw new CommandError(1, invalidSource(this.#options, this), this.violations)
  }

  #add(violation: Violation): void {
    this.total += 1
    if (this.violations.length < MAX_VIOLATIONS) this.violations.push({ ...violation, ...this.#file(violation.file) })
  }

  #file(file: string | undefined): { readonly file: string } | undefined {
    const { path } = this.#options
    if (path === '-') return undefined
    return { file: file === undefined ? path : join(path, file) }
  }
}

/**
 * Opens a source for a reading.
 *
 * @param label - what the progress bar says; undefined = no bar
 * @throws CommandError (wrong usage) if the source cannot be read
 */
export async function openSource(options: Source, io: CommandIO, label: string | undefined): Promise<SourceReading> {
  try {
    const source = await openIssueSource(options.copy ?? options.path)
    const bar = progressBar(label === undefined ? undefined : io.showStatus, label ?? '', source.size)
    return new SourceReading(options, source, io.stop, bar)
  } catch (error) {
    throw unreadable(options, error)
  }
}

/**
 * Copies a source that can be read only once, standard input or a pipe such as that of `<(command)`, into a temporary
 * file. Returns undefined for any other source.
 * @throws CommandError if the source cannot be read, or the command is stopped
 */
export async function copyOfPipe(
  options: Source,
  io: CommandIO,
): Promise<{ readonly path: string; remove(): Promise<void> } | undefined> {
  const { path } = options
  let folder: string | undefined
  const remove = async (): Promise<void> => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
  try {
    const source = await openIssueSource(path)
    if ('folder' in source || source.size !== undefined) return undefined

    folder = await mkdtemp(join(tmpdir(), 'forgelet-import-'))
    const copy = join(folder, basename(path))
    const input = path === '-' ? process.stdin : createReadStream(path)
    await pipeline(input, createWriteStream(copy, { mode: 0o600 }), { signal: io.stop })
    return { path: copy, remove }
  } catch (error) {
    await remove()
    if (io.stop.aborted) throw new CommandError(3, 'stopped: nothing was imported; run the same command again')
    throw unreadable(options, error)
  }
}

function unreadable(options: Source, error: unknown): CommandError {
  return new CommandError(2, `${shownSource(options)} cannot be read: ${readFailure(error)}`)
}

/** Returns the name of a source for messages. */
export function shownSource({ path }: Source): string {
  return path === '-' ? 'standard input' : path
}

/** Returns a line that says that a source is not valid. */
export function invalidSource(options: Source, { total }: Pick<SourceReading, 'total'>): string {
  const listed = total > MAX_VIOLATIONS ? `, of which the first ${MAX_VIOLATIONS} are listed` : ''
  return `${shownSource(options)} is not valid: ${counted(total, 'violation')}${listed}`
}

/** Returns a line for each kind of thing that is not carried, such as "not carried: due_date (4), first at /17/due_date". */
export function notCarriedLines(notCarried: readonly NotCarried[]): readonly string[] {
  return notCarried.map(({ what, count, pointer, file }) => {
    const place = [file, pointer].filter(Boolean).join(' ')
    return printable(`not carried: ${what} (${count.toLocaleString('en')})${place && `, first at ${place}`}`)
  })
}
