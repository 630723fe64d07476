import type { ExchangeRecord, IssueRecord, NotCarried } from '../../exchange/exchange.ts'
import { writeGiteaDump } from '../../exchange/files.ts'
import type { CommandIO, ExitCode } from '../command.ts'
import { CommandError } from '../command.ts'
import type { RepositoryName } from './repository-name.ts'
import type { SourceOptions, SourceReading } from './source-reading.ts'
import { notCarriedLines, openSource } from './source-reading.ts'
import { unwritable, writeDocument } from './write-document.ts'

/** The options of `forgelet issues convert`. */
export interface ConvertOptions extends SourceOptions {
  /** A file, the folder of a dump, or `-` for standard output. */
  readonly out: string
  readonly to: 'document' | 'gitea-dump'
  /** The repository of a dump. */
  readonly repo?: RepositoryName | undefined
  readonly json?: true | undefined
}

/**
 * Writes a source of issues as an issue document or as a Gitea dump.
 * @throws CommandError with the documented exit code
 */
export async function convert(path: string, options: ConvertOptions, io: CommandIO): Promise<ExitCode> {
  const { out, json } = options
  const dumpOf = dumpTarget(options)
  const reading = await openSource({ ...options, path }, io, json || out === '-' ? undefined : 'converting')
  const conversion = new Conversion(reading)
  if (dumpOf !== undefined) await writeDump(out, conversion.records(), dumpOf)
  else if (!(await writeDocument(out, conversion.issues(), io))) return 0

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
  #lostComments = 0
  #lostMilestones = 0
  readonly #lostLabels = new Set<string>()

  constructor(reading: SourceReading) {
    this.#reading = reading
  }

  /** Yields all records, for a dump. @throws CommandError (invalid input) at the end, if the source is not valid */
  async *records(): AsyncGenerator<ExchangeRecord, void, void> {
    for await (const record of this.#reading.records()) {
      if (record.kind === 'issue') this.#issues += 1
      if (record.kind === 'comment') this.#comments += 1
      yield record
    }
    this.#reading.refuseInvalid()
  }

  /**
   * Yields the issues, for a document. It has no place for comments, for a milestone beyond its title, and for labels
   * that no issue has.
   * @throws CommandError (invalid input) at the end, if the source is not valid
   */
  async *issues(): AsyncGenerator<IssueRecord, void, void> {
    for await (const record of this.#reading.records()) {
      if (record.kind === 'label') this.#lostLabels.add(record.label.name)
      else if (record.kind === 'milestone') this.#lostMilestones += 1
      else if (record.kind === 'comment') this.#lostComments += 1
      else {
        for (const { name } of record.issue.labels ?? []) this.#lostLabels.delete(name)
        this.#issues += 1
        yield record.issue
      }
    }
    this.#reading.refuseInvalid()
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
    const lost = { comments: this.#lostComments, milestone: this.#lostMilestones, label: this.#lostLabels.size }
    const all = new Map(this.#reading.notCarried.map((known) => [known.what, known]))
    for (const [what, count] of Object.entries(lost)) {
      const known = all.get(what) ?? { what, count: 0, pointer: '' }
      if (count > 0) all.set(what, { ...known, count: known.count + count })
    }
    return [...all.values()]
  }
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

function dumpTarget({ to, out, repo }: ConvertOptions): RepositoryName | undefined {
  if (to === 'document') {
    if (repo === undefined) return undefined
    throw new CommandError(2, '--repo is for --to gitea-dump: a document has no name of a repository')
  }
  if (out === '-') throw new CommandError(2, 'a dump is a folder: name a new one with --out')
  if (repo === undefined) throw new CommandError(2, '--to gitea-dump needs --repo, such as --repo acme/rocket')
  return repo
}
