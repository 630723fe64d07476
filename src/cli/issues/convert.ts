import type { ExchangeRecord, IssueRecord } from '../../exchange/exchange.ts'
import { writeGiteaDump } from '../../exchange/files.ts'
import type { CommandIO, ExitCode } from '../command.ts'
import { CommandError, counted } from '../command.ts'
import { unwritable } from '../files.ts'
import type { RepositoryName } from './open-repository.ts'
import type { SourceOptions } from './source-reading.ts'
import { notCarriedLines, openSource } from './source-reading.ts'
import { writeDocument } from './write-document.ts'

/** The options of `forgelet issues convert`. */
export interface ConvertOptions extends SourceOptions {
  /** A file, the folder of a dump, or `-` for standard output. */
  readonly out: string
  readonly to: 'document' | 'gitea-dump' | 'csv'
  /** The repository of a dump. */
  readonly repo?: RepositoryName | undefined
}

/**
 * Writes a source of issues as an issue document, a Gitea dump, or CSV.
 * @throws CommandError with the documented exit code
 */
export async function convert(path: string, options: ConvertOptions, io: CommandIO): Promise<ExitCode> {
  const { out, to, json } = options
  const dumpOf = dumpTarget(options)
  const reading = await openSource({ ...options, path }, io, json || out === '-' ? undefined : 'converting')
  const read = { issue: 0, comment: 0, label: 0, milestone: 0 }
  async function* records(): AsyncGenerator<ExchangeRecord, void, void> {
    for await (const record of reading.validRecords()) {
      read[record.kind] += 1
      yield record
    }
  }
  /** The labels that no issue has. */
  const unused = new Set<string>()
  async function* issues(): AsyncGenerator<IssueRecord, void, void> {
    for await (const record of records()) {
      if (record.kind === 'label') unused.add(record.label.name)
      if (record.kind !== 'issue') continue
      for (const { name } of record.issue.labels ?? []) unused.delete(name)
      yield record.issue
    }
  }

  if (dumpOf !== undefined) await writeDump(out, records(), dumpOf)
  else if (!(await writeDocument({ out, format: to === 'csv' ? 'csv' : 'document' }, issues(), io))) return 0

  // A document has no place for comments, for a milestone beyond its title, and for labels that no issue has.
  const lost = dumpOf === undefined ? { comments: read.comment, milestone: read.milestone, label: unused.size } : {}
  const left = Object.entries(lost).flatMap(([what, count]) => (count > 0 ? [{ what, count, pointer: '' }] : []))
  const notCarried = [...reading.notCarried, ...left]
  const comments = dumpOf === undefined ? 0 : read.comment
  if (json) {
    const line = JSON.stringify({ records: read.issue, comments, notCarried })
    out === '-' ? io.err(line) : io.out(line)
    return 0
  }
  const written = `${counted(read.issue, 'issue')}${comments === 0 ? '' : ` and ${counted(comments, 'comment')}`}`
  io.err(`forgelet: ${written} written to ${out === '-' ? 'standard output' : out}`)
  if (!options.quiet) for (const line of notCarriedLines(notCarried)) io.err(line)
  return 0
}

async function writeDump(out: string, records: AsyncIterable<ExchangeRecord>, dumpOf: RepositoryName): Promise<void> {
  try {
    await writeGiteaDump(out, records, dumpOf)
  } catch (error) {
    throw unwritable(out, error)
  }
}

function dumpTarget({ to, out, repo }: ConvertOptions): RepositoryName | undefined {
  if (to !== 'gitea-dump') {
    if (repo === undefined) return undefined
    throw new CommandError(2, `--repo is for --to gitea-dump: a ${to} has no name of a repository`)
  }
  if (out === '-') throw new CommandError(2, 'a dump is a folder: name a new one with --out')
  if (repo === undefined) throw new CommandError(2, '--to gitea-dump needs --repo, such as --repo acme/rocket')
  return repo
}
