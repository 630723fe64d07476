import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import process from 'node:process'
import { pipeline } from 'node:stream/promises'
import type { Command, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings'
import { Option } from '@commander-js/extra-typings'
import type { ExchangeFormat, ExchangeRecord, NotCarried, RecordLocator, SourcePlace } from '../../exchange/exchange.ts'
import { readExchange } from '../../exchange/exchange.ts'
import type { OpenedSource } from '../../exchange/files.ts'
import { openIssueSource } from '../../exchange/files.ts'
import type { Violation } from '../../index.ts'
import { isForgeError } from '../../index.ts'
import type { CommandIO, ResultOptions } from '../command.ts'
import { CommandError, counted, printable } from '../command.ts'
import { readFailure, systemCode } from '../files.ts'

/** The options that say how a source is read. */
export type SourceOptions = ResultOptions & {
  /** The format; undefined = recognized. */
  readonly from?: ExchangeFormat | undefined
  readonly confidential?: 'keep' | undefined
  readonly minimized?: 'keep' | undefined
  /** Leaves out what is not carried. */
  readonly quiet?: true | undefined
}

/** The help of every command that reads a source. */
export const SOURCES = `SOURCE is a file, a folder that a forge wrote, or - for standard input: an issue document, a list
that GitHub, GitLab or Gitea serves, a Gitea dump, or an unpacked GitLab export. docs/exchange.md
describes them, and what each of them loses.`

const FORMATS = ['document', 'github', 'gitlab', 'gitlab-rest', 'gitea', 'gitea-dump'] as const

/** Adds what names a source of issues, and these options. */
export function ofSource<O extends OptionValues>(command: Command<[], O>): Command<[string], O & SourceOptions>
export function ofSource(command: Command): CommandUnknownOpts {
  const confidential = new Option('--confidential <keep>', 'also read what not every reader of its forge may see')
  const minimized = new Option('--minimized <keep>', 'also read comments that their forge folds away')
  return command
    .argument('<source>', 'a file, a folder that a forge wrote, or - for standard input')
    .addOption(new Option('--from <format>', 'format of the source, if it is not recognized').choices(FORMATS))
    .addOption(confidential.choices(['keep']))
    .addOption(minimized.choices(['keep']))
    .option('--quiet', 'leave out what the source has and a record has not')
}

/** The source that a command reads, and how. */
export type Source = SourceOptions & {
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
  readonly #show: ((progress: string) => void) | undefined
  #reading: RecordLocator | undefined
  /** The number of records of the source, valid or not. */
  recordCount = 0
  /** The first 100 violations. */
  readonly violations: Violation[] = []
  /** The number of violations. */
  total = 0
  notCarried: readonly NotCarried[] = []

  constructor(options: Source, source: OpenedSource, io: CommandIO, label: string | undefined) {
    this.#options = options
    this.#source = source
    this.#stop = io.stop
    this.#show = label === undefined ? undefined : (text) => io.showStatus?.(text && `${label} ${text}`)
  }

  /**
   * Yields the records up to the first violation, and then reads on to find the others.
   * @throws CommandError if the source cannot be read, or the command is stopped
   */
  async *records(): AsyncGenerator<ExchangeRecord, void, void> {
    const beganAt = performance.now()
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
        this.#show?.(progress(issues, bytes, (performance.now() - beganAt) / 1000, this.#source.size))
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
      this.#show?.('') // messages do not follow the progress bar
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
    if (this.total > 0) throw new CommandError(1, invalidSource(this.#options, this.total), this.violations)
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

/** The width of the progress bar. */
const WIDTH = 20

/**
 * Returns a bar, the issues, the speed and the time left.
 *
 * @param size - the bytes of the whole source; undefined = unknown, then there is neither a bar nor a time left
 */
function progress(issues: number, bytes: number, seconds: number, size: number | undefined): string {
  const share = size ? Math.min(1, bytes / size) : undefined
  const bar = '#'.repeat(Math.floor((share ?? 0) * WIDTH)).padEnd(WIDTH, '.')
  return [
    ...(share === undefined ? [] : [`[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`]),
    counted(issues, 'issue'),
    `${(bytes / 1e6 / seconds).toFixed(1)} MB/s`,
    ...(share ? [`${duration((1 / share - 1) * seconds)} left`] : []),
  ].join('  ')
}

function duration(seconds: number): string {
  return seconds < 60 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}

/**
 * Opens a source for a reading.
 *
 * @param label - what the progress bar says; undefined = no bar
 * @throws CommandError (wrong usage) if the source cannot be read
 */
export async function openSource(source: Source, io: CommandIO, label: string | undefined): Promise<SourceReading> {
  return new SourceReading(source, await opened(source), io, label)
}

function opened(source: Source): Promise<OpenedSource> {
  return openIssueSource(source.copy ?? source.path).catch((error: unknown) => {
    throw unreadable(source, error)
  })
}

/**
 * Runs work on a source that can be read twice: a source that cannot, standard input or a pipe such as that of
 * `<(command)`, is copied into a temporary file.
 * @throws CommandError if the source cannot be read, or the command is stopped
 */
export async function withCopyOfPipe<T>(
  source: Source,
  io: CommandIO,
  work: (source: Source) => Promise<T>,
): Promise<T> {
  const { path } = source
  const found = await opened(source)
  if ('folder' in found || found.size !== undefined) return work(source)

  const folder = await mkdtemp(join(tmpdir(), 'forgelet-import-'))
  try {
    const copy = join(folder, basename(path))
    const input = path === '-' ? process.stdin : createReadStream(path)
    await pipeline(input, createWriteStream(copy, { mode: 0o600 }), { signal: io.stop }).catch((error: unknown) => {
      if (io.stop.aborted) throw new CommandError(3, 'stopped: nothing was imported; run the same command again')
      throw unreadable(source, error)
    })
    return await work({ ...source, copy })
  } finally {
    await rm(folder, { recursive: true, force: true })
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
export function invalidSource(options: Source, total: number): string {
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
