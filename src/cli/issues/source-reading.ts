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
  /** Leaves out the records that are not valid. */
  readonly onInvalid?: 'skip' | undefined
  /** Writes U+FFFD for NUL. */
  readonly replaceNul?: true | undefined
}

const HELP = `
SOURCE is a file, a folder that a forge wrote, or - for standard input: an issue document, a list
that GitHub, GitLab, Gitea, Gogs, GitBucket or Redmine serves, what gh issue list --json prints, a
Gitea dump, or an unpacked export of GitLab or Bitbucket. docs/exchange.md describes them, and what
each of them loses.`

const FORMATS = [
  ...(['document', 'github', 'github-cli', 'gitlab', 'gitlab-rest'] as const),
  ...(['gitea', 'gitea-dump', 'bitbucket', 'redmine'] as const),
]

/** Adds what names a source of issues, these options, and their help. */
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
    .addHelpText('after', HELP)
}

/** A source that is open. It can be read again, unless it is standard input or a pipe. */
export interface Source {
  /** A file, a folder, or `-` for standard input. */
  readonly path: string
  /** Its name in messages. */
  readonly shown: string
  readonly opened: OpenedSource
}

/**
 * Opens a source.
 *
 * @param copy - a copy of it, which is read in its place
 * @throws CommandError (wrong usage) if it cannot be read
 */
export async function openSource(path: string, copy: string = path): Promise<Source> {
  const shown = path === '-' ? 'standard input' : path
  const opened = await openIssueSource(copy).catch((error: unknown) => {
    throw unreadable(shown, error)
  })
  return { path, shown, opened }
}

function unreadable(shown: string, error: unknown): CommandError {
  return new CommandError(2, `${shown} cannot be read: ${readFailure(error)}`)
}

/** The maximum number of violations that a reading keeps. */
const MAX_VIOLATIONS = 100

/**
 * One reading of a source to its end. It yields the valid records, and finds what is wrong. Every place has its file as the
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
    const { from: format, confidential, minimized, json, onInvalid, replaceNul } = options
    const showStatus = json || label === undefined ? undefined : io.showStatus
    const beganAt = performance.now()
    this.#source = source
    this.#skipsInvalid = onInvalid === 'skip'
    this.#replacesNul = replaceNul === true
    this.#show = showStatus && ((text) => showStatus(text && `${label} ${text}`))
    this.#records = readExchange(source.opened, {
      format,
      confidential,
      minimized,
      signal: io.stop,
      onInvalid: (violation) => this.#add(violation),
      onNotCarried: (notCarried) => {
        this.#notCarried = notCarried.map((what) => this.#named(what))
      },
      onProgress: ({ records, bytes }) => {
        this.recordCount = records
        this.#show?.(progress(this.#issues, bytes, (performance.now() - beganAt) / 1000, source.opened.size))
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
      if (systemCode(error) !== undefined) throw unreadable(this.#source.shown, error)
      if (!isForgeError(error, 'INVALID_DOCUMENT')) throw error
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

  place(): SourcePlace | undefined {
    const place = this.#records.place()
    return place && this.#named(place)
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

    const { pointer = '', file } = this.place() ?? {}
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

  #named<T extends { readonly file?: string | undefined }>(place: T): T {
    const { path } = this.#source
    if (path === '-') return place
    // A spread in front of a property is slow, and most sources are one file. No place has a file that is undefined.
    return place.file === undefined ? { file: path, ...place } : { ...place, file: join(path, place.file) }
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
  const done = `${counted(issues, 'issue')}  ${(bytes / 1e6 / seconds).toFixed(1)} MB/s`
  if (!size) return done

  const share = Math.min(1, bytes / size)
  const bar = '#'.repeat(share * WIDTH).padEnd(WIDTH, '.')
  const left = (1 / share - 1) * seconds
  const time = left < 60 ? `${Math.ceil(left)} s` : `${Math.ceil(left / 60)} min`
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${done}  ${time} left`
}

/**
 * Runs work on a source that can be read twice: a source that cannot, standard input or a pipe such as that of
 * `<(command)`, is copied into a temporary file.
 * @param done - what the command does with the source, such as `imported`
 * @throws CommandError if the source cannot be read, or the command is stopped
 */
export async function withCopyOfPipe<T>(
  source: Source,
  io: CommandIO,
  done: string,
  work: (source: Source) => Promise<T>,
): Promise<T> {
  const { path, shown, opened } = source
  if ('folder' in opened || opened.size !== undefined) return work(source)

  const folder = await mkdtemp(join(tmpdir(), 'forgelet-import-'))
  try {
    const copy = join(folder, basename(path))
    const input = path === '-' ? process.stdin : createReadStream(path)
    await pipeline(input, createWriteStream(copy, { mode: 0o600 }), { signal: io.stop }).catch((error: unknown) => {
      if (io.stop.aborted) throw new CommandError(3, `stopped: nothing was ${done}; run the same command again`)
      throw unreadable(shown, error)
    })
    return await work(await openSource(path, copy))
  } finally {
    await rm(folder, { recursive: true, force: true })
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
    const place = [file, pointer].filter(Boolean).join(' ')
    return printable(`not carried: ${what} (${count.toLocaleString('en')})${place && `, first at ${place}`}`)
  })
}
