import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Command, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings'
import { Option } from '@commander-js/extra-typings'
import { isForgeError } from 'forgelet'
import type { ExchangeFormat } from 'forgelet/exchange'
import type { OpenedSource } from 'forgelet/exchange/files'
import { openIssueSource } from 'forgelet/exchange/files'
import type { CommandIO, ResultOptions } from '../command.ts'
import { CommandError, counted, progress } from '../command.ts'
import { failureOf, systemCode, unwritable } from '../files.ts'

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
  /** The repository to read, if the source has several. */
  readonly sourceRepo?: string | undefined
  /** Bytes that an archive may have when it is unpacked. */
  readonly maxUnpackedBytes?: number | undefined
}

const HELP = `
SOURCE is a file, a folder that a forge wrote, an archive of it (tar, tar.gz, zip), or - for
standard input: an issue document, a list that GitHub, GitLab, Gitea, Gogs, GitBucket or Redmine
serves, what gh issue list --json prints, a Gitea dump, an export of GitLab or Bitbucket, an archive
or a backup of GitHub. docs/exchange.md describes them, and what each of them loses.`

const FORMATS = [
  ...(['document', 'github', 'github-cli', 'github-archive', 'github-backup'] as const),
  ...(['gitlab', 'gitlab-rest', 'gitea', 'gitea-dump', 'bitbucket', 'redmine'] as const),
]

/** Adds what names a source of issues, these options, and their help. */
export function ofSource<O extends OptionValues>(command: Command<[], O>): Command<[string], O & SourceOptions>
export function ofSource(command: Command): CommandUnknownOpts {
  const confidential = new Option('--confidential <keep>', 'also read what not every reader of its forge may see')
  const minimized = new Option('--minimized <keep>', 'also read comments that their forge folds away')
  return command
    .argument('<source>', 'a file, a folder or an archive that a forge wrote, or - for standard input')
    .addOption(new Option('--from <format>', 'format of the source, if it is not recognized').choices(FORMATS))
    .addOption(confidential.choices(['keep']))
    .addOption(minimized.choices(['keep']))
    .option('--source-repo <owner/name>', 'repository to read, if the source has several')
    .option('--max-unpacked-bytes <n>', 'bytes that an archive may have when it is unpacked', byteCount, 10_000_000_000)
    .option('--quiet', 'leave out what the source has and a record has not')
    .addHelpText('after', HELP)
}

/** Parses the value of `--max-unpacked-bytes`. @throws CommandError (wrong usage) */
function byteCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new CommandError(2, `--max-unpacked-bytes ${text}: give a number of bytes, such as 50000000000`)
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
 * Runs work on a source, and closes it. A source that cannot be read twice, standard input or a pipe such as that of
 * `<(command)`, is copied into a temporary file before.
 *
 * @param done - what the command does with the source, such as `imported`; undefined: it reads it once, and needs no copy
 * @param copy - a copy of the source, which is read in its place
 * @throws CommandError if the source cannot be read, or the command is stopped
 */
export async function onSource<T>(
  path: string,
  options: SourceOptions,
  io: CommandIO,
  done: string | undefined,
  work: (source: Source) => Promise<T>,
  copy: string = path,
): Promise<T> {
  const source = await openSource(path, options, io, copy)
  const { opened, shown } = source
  try {
    if (done === undefined || 'folder' in opened || opened.size !== undefined) return await work(source)

    const folder = await mkdtemp(join(tmpdir(), 'forgelet-import-')).catch((error: unknown) => {
      throw unreadable(shown, error)
    })
    try {
      const file = join(folder, basename(path))
      const input = path === '-' && 'json' in opened ? opened.json : createReadStream(path)
      await pipeline(input, createWriteStream(file, { mode: 0o600 }), { signal: io.stop }).catch((error: unknown) => {
        if (io.stop.aborted) throw new CommandError(3, `stopped: nothing was ${done}; run the same command again`)
        throw unreadable(shown, error)
      })
      return await onSource(path, options, io, done, work, file)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  } finally {
    await opened.close()
  }
}

const SHOWN_EVERY_MS = 100

async function openSource(path: string, options: SourceOptions, io: CommandIO, copy: string): Promise<Source> {
  const shown = path === '-' ? 'standard input' : path
  const beganAt = performance.now()
  let shownAt = beganAt
  try {
    const opened = await openIssueSource(copy, {
      signal: io.stop,
      maxUnpackedBytes: options.maxUnpackedBytes,
      onUnpack: ({ bytes, total }) => {
        const now = performance.now()
        if (options.json || now - shownAt < SHOWN_EVERY_MS) return
        shownAt = now
        io.showStatus?.(`unpacking ${progress('', bytes, now - beganAt, total)}`)
      },
    })
    return { path, shown, opened }
  } catch (error) {
    if (!isForgeError(error, 'INVALID_DOCUMENT')) throw unreadable(shown, error)
    const { violations } = error.details
    const inPath = path === '-' ? {} : { file: path }
    throw new CommandError(
      1,
      `${shown} is not valid: ${counted(violations.length, 'violation')}`,
      violations.map((violation) => ({ ...violation, ...inPath })),
    )
  } finally {
    if (shownAt !== beganAt) io.showStatus?.('')
  }
}

/**
 * Converts an error of the file system to the CommandError that names the source, or the temporary folder: nothing else is
 * written to read a source. Returns any other error unchanged.
 */
export function unreadable(shown: string, error: unknown): unknown {
  const code = systemCode(error)
  const call = error instanceof Error && 'syscall' in error ? error.syscall : undefined
  if (call === 'mkdtemp' || call === 'write' || code === 'ENOSPC')
    return unwritable(`the temporary folder ${tmpdir()}`, error)
  return code === undefined ? error : new CommandError(2, `${shown} cannot be read: ${failureOf(error)}`)
}
