import type { ExchangeRecord, IssueRecord, NotCarried } from '../../exchange/exchange.ts'
import { writeGiteaDump } from '../../exchange/files.ts'
import type { CommandIO, ExitCode } from '../command.ts'
import { CommandError, counted } from '../command.ts'
import { unwritable } from '../files.ts'
import type { RepositoryName } from './open-repository.ts'
import type { SourceOptions, SourceReading } from './source-reading.ts'
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
  const conversion = new Conversion(reading)
  if (dumpOf !== undefined) await writeDump(out, conversion.records(), dumpOf)
  else {
    const format = to === 'csv' ? 'csv' : 'document'
    if (!(await writeDocument({ out, format }, conversion.issues(format), io))) return 0
  }

  const lines = json ? [conversion.asJson()] : conversion.report(options)
  for (const line of lines) json && out !== '-' ? io.out(line) : io.err(line)
  return 0
}

async function writeDump(out: string, records: AsyncIterable<ExchangeRecord>, dumpOf: RepositoryName): Promise<void> {
  try {
    await writeGiteaDump(out, records, dumpOf)
  } catch (error) {
    throw unwritable(out, error)
  }
}

/** The records of a source on their way to the target: counts those that are written, and those that are not. */
class Conversion {
  readonly #reading: SourceReading
  #issues = 0
  #comments = 0
  readonly #lost = new Map<string, number>()

  constructor(reading: SourceReading) {
    this.#reading = reading
  }

  /** Yields all records, for a dump. @throws CommandError (invalid input) at the end, if the source is not valid */
  async *records(): AsyncGenerator<ExchangeRecord, void, void> {
    for await (const record of this.#reading.validRecords()) {
      if (record.kind === 'issue') this.#issues += 1
      if (record.kind === 'comment') this.#comments += 1
      yield record
    }
  }

  /**
   * Yields the issues, for a document or CSV. Neither has a place for comments, for a milestone beyond its title, and for
   * labels that no issue has; and CSV only for the names of the others.
   * @throws CommandError (invalid input) at the end, if the source is not valid
   */
  async *issues(format: 'document' | 'csv'): AsyncGenerator<IssueRecord, void, void> {
    const labels = new Set<string>()
    for await (const record of this.#reading.validRecords()) {
      if (record.kind === 'label') labels.add(record.label.name)
      else if (record.kind === 'milestone') this.#lose('milestone')
      else if (record.kind === 'comment') this.#lose('comments')
      else {
        for (const { name } of record.issue.labels ?? []) labels.delete(name)
        if (format === 'csv') this.#loseForCsv(record.issue)
        this.#issues += 1
        yield record.issue
      }
    }
    this.#lose('label', labels.size)
  }

  #loseForCsv({ poster_email, ref, reactions = [] }: IssueRecord): void {
    if (poster_email) this.#lose('poster_email')
    if (ref) this.#lose('ref')
    this.#lose('reactions', reactions.length)
  }

  #lose(what: string, count = 1): void {
    this.#lost.set(what, (this.#lost.get(what) ?? 0) + count)
  }

  asJson(): string {
    return JSON.stringify({ records: this.#issues, comments: this.#comments, notCarried: this.#notCarried() })
  }

  report({ out, quiet }: ConvertOptions): readonly string[] {
    const comments = this.#comments === 0 ? '' : ` and ${counted(this.#comments, 'comment')}`
    const target = out === '-' ? 'standard output' : out
    return [
      `forgelet: ${counted(this.#issues, 'issue')}${comments} written to ${target}`,
      ...(quiet ? [] : notCarriedLines(this.#notCarried())),
    ]
  }

  /** What the source has and a record does not, and what a record has and the target does not. */
  #notCarried(): readonly NotCarried[] {
    const all = new Map(this.#reading.notCarried.map((known) => [known.what, known]))
    for (const [what, count] of this.#lost) {
      const known = all.get(what) ?? { what, count: 0, pointer: '' }
      if (count > 0) all.set(what, { ...known, count: known.count + count })
    }
    return [...all.values()]
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
