import type { Command } from '@commander-js/extra-typings'
import { Option } from '@commander-js/extra-typings'
import type { Violation } from 'forgelet'
import type { ExchangeRecord, IssueRecord, SourcePosition } from 'forgelet/exchange'
import type { DumpedRepository } from 'forgelet/exchange/files'
import { writeGiteaDump } from 'forgelet/exchange/files'
import type { CommandIO } from '../command.ts'
import { CommandError, counted, newCommand } from '../command.ts'
import { unwritable } from '../files.ts'
import { reportWritten, writeDocument } from './export.ts'
import type { RepositoryName } from './open-repository.ts'
import { repositoryName } from './open-repository.ts'
import type { Source, SourceOptions } from './source.ts'
import { ofSource, onSource } from './source.ts'
import { notCarriedLines, SourceReading } from './source-reading.ts'

const HELP = `
  forgelet issues convert github-issues.json -o issues.json
  forgelet issues convert gitlab-export -o dump --to gitea-dump --repo acme/rocket
  forgelet issues convert dump -o - | gzip > issues.json.gz
  forgelet issues convert issues.json -o issues.csv --to csv

OUT appears whole or not at all. A document has issues only; a dump, which is a new or empty folder,
also has labels, milestones and comments. CSV has a row for each issue, for spreadsheets. With -o -,
messages and --json go to standard error.`

/** Adds `forgelet issues convert`. */
export function addConvert(issues: Command, io: CommandIO): void {
  const formats = new Option('--to <format>', 'what to write').choices(['document', 'gitea-dump', 'csv'])
  const command = newCommand(issues, 'convert', 'write a source as an issue document, a Gitea dump or CSV', HELP)
  ofSource(command)
    .requiredOption('-o, --out <out>', 'file, or folder of a dump, to write; - is standard output')
    .addOption(formats.default('document'))
    .option('--repo <owner/name>', 'repository that a dump is of', repositoryName)
    .option(
      '--original-url <url>',
      'address of the repository in the Gitea that restores the dump, where the authors have accounts',
    )
    .option('--no-bom', 'write CSV without a byte order mark, which Excel needs')
    .action((path, options) => {
      const { to, bom } = options
      const dumpOf = dumpTarget(options)
      if (!bom && to !== 'csv') throw new CommandError(2, `--no-bom is for --to csv: a ${to} has no byte order mark`)
      return onSource(path, options, io, undefined, (source) => convert(source, dumpOf, options, io))
    })
}

type ConvertOptions = SourceOptions & {
  readonly out: string
  readonly to: string
  readonly bom: boolean
  readonly repo?: RepositoryName
  readonly originalUrl?: string
}

async function convert(
  source: Source,
  dumpOf: DumpedRepository | undefined,
  options: ConvertOptions,
  io: CommandIO,
): Promise<void> {
  const { out, to, bom } = options
  const reading = new SourceReading(source, options, io, out === '-' ? undefined : 'converting')
  const read = { issue: 0, comment: 0, label: 0, milestone: 0 }
  /** The labels that no issue has. */
  const unused = new Set<string>()
  const numbers = new Set<number>()
  async function* records(): AsyncGenerator<ExchangeRecord, void, void> {
    for await (const record of reading) {
      if (record.kind === 'issue') {
        const { number, labels = [] } = record.issue
        if (numbers.has(number)) {
          reading.refuse(repeatedNumber(number, reading.position()))
          continue
        }
        numbers.add(number)
        for (const { name } of labels) unused.delete(name)
      }
      read[record.kind] += 1
      if (record.kind === 'label') unused.add(record.label.name)
      yield record
    }
  }
  async function* issues(): AsyncGenerator<IssueRecord, void, void> {
    for await (const record of records()) if (record.kind === 'issue') yield record.issue
  }

  if (dumpOf !== undefined) {
    await writeGiteaDump(out, records(), dumpOf).catch((error: unknown) => {
      throw unwritable(`--out ${out}`, error)
    })
  } else if (!(await writeDocument({ out, format: to === 'csv' ? 'csv' : 'document', bom }, issues(), io))) return

  // A document has no place for comments, for a milestone beyond its title, and for labels that no issue has.
  const lost = dumpOf === undefined ? { comments: read.comment, milestone: read.milestone, label: unused.size } : {}
  const left = Object.entries(lost).flatMap(([what, count]) => (count > 0 ? [{ what, count, pointer: '' }] : []))
  const notCarried = [...reading.notCarried, ...left]
  const comments = dumpOf === undefined ? 0 : read.comment
  const written = `${counted(read.issue, 'issue')}${comments === 0 ? '' : ` and ${counted(comments, 'comment')}`}`
  reportWritten(io, options, { records: read.issue, comments, notCarried }, [
    `forgelet: ${written} written to ${out === '-' ? 'standard output' : out}`,
    ...(options.quiet ? [] : notCarriedLines(notCarried)),
  ])
}

/** Returns the repository of a dump; undefined for what has none. @throws CommandError (wrong usage) */
function dumpTarget({ to, out, repo, originalUrl }: ConvertOptions): DumpedRepository | undefined {
  if (to !== 'gitea-dump') {
    if (repo !== undefined) {
      throw new CommandError(2, `--repo is for --to gitea-dump: a ${to} has no name of a repository`)
    }
    if (originalUrl === undefined) return undefined
    throw new CommandError(2, `--original-url is for --to gitea-dump: a ${to} has no address of a repository`)
  }
  if (out === '-') throw new CommandError(2, 'a dump is a folder: name a new one with --out')
  if (repo === undefined) throw new CommandError(2, '--to gitea-dump needs --repo, such as --repo acme/rocket')
  return { ...repo, originalUrl }
}

function repeatedNumber(number: number, position: SourcePosition = { pointer: '' }): Violation {
  const message = `expected a number that no other issue of the document has; ${number} occurs twice`
  return { ...position, pointer: `${position.pointer}/number`, code: 'duplicate_number', message }
}
