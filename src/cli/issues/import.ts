import type { ExchangeRecord, NotCarried, RecordLocator } from '../../exchange/exchange.ts'
import type { ImportOptions, ImportReport, InspectReport, Violation } from '../../index.ts'
import { isForgeError } from '../../index.ts'
import type { CommandIO, ExitCode } from '../command.ts'
import { CommandError, printable, violationLine } from '../command.ts'
import type { OpenRepository, RepositoryOptions } from './open-repository.ts'
import { withRepository } from './open-repository.ts'
import { readUsers, withoutAccount } from './people.ts'
import type { Source, SourceOptions, SourceReading } from './source-reading.ts'
import { copyOfPipe, notCarriedLines, openSource, shownSource } from './source-reading.ts'

/** The options of `forgelet issues import`. */
export interface ImportCommandOptions extends RepositoryOptions, SourceOptions {
  readonly dryRun?: true | undefined
  readonly onConflict: 'refuse' | 'skip' | 'update'
  readonly attribution: 'names' | 'accounts'
  /** A file. */
  readonly users?: string | undefined
  readonly json?: true | undefined
}

/**
 * Imports a source into a repository. The source is checked whole before the first issue is written.
 * @throws CommandError with the documented exit code
 */
export async function importIssues(path: string, options: ImportCommandOptions, io: CommandIO): Promise<ExitCode> {
  const users = options.users === undefined ? {} : await readUsers(options.users)
  return withRepository(options, io, async (repository) => {
    const source = { ...options, path }
    const copy = options.dryRun ? undefined : await copyOfPipe(source, io)
    try {
      return await new Import(options, { ...repository, source: { ...source, copy: copy?.path }, users }, io).run()
    } finally {
      await copy?.remove()
    }
  })
}

interface ImportPlace extends OpenRepository {
  readonly source: Source
  readonly users: { readonly [name: string]: string | null }
}

/** One import: the check, then the writing. */
class Import {
  readonly #options: ImportCommandOptions
  readonly #place: ImportPlace
  readonly #io: CommandIO
  #written: ImportReport | undefined

  constructor(options: ImportCommandOptions, place: ImportPlace, io: CommandIO) {
    this.#options = options
    this.#place = place
    this.#io = io
  }

  async run(): Promise<ExitCode> {
    try {
      const { report, notCarried } = await this.#check()
      const { total } = report.conflicts
      if (this.#options.dryRun === true) return this.#print(report, notCarried)

      if (total > 0) throw conflictError(report.conflicts)
      return this.#print(await this.#write(), notCarried)
    } catch (error) {
      throw this.#failure(error)
    }
  }

  async #check(): Promise<{ readonly report: InspectReport; readonly notCarried: readonly NotCarried[] }> {
    const { host, repositoryId } = this.#place
    const reading = await openSource(this.#place.source, this.#io, this.#label('checking'))
    const request = { repositoryId, records: withPlaces(validRecords(reading), reading) }
    const report = await host.forge.exchange.inspect('system', request, this.#settings())
    return { report, notCarried: reading.notCarried }
  }

  async #write(): Promise<ImportReport> {
    const { host, repositoryId } = this.#place
    const reading = await openSource(this.#place.source, this.#io, this.#label('importing'))
    const settings = {
      ...this.#settings(),
      onBatch: (soFar: ImportReport) => {
        this.#written = soFar
      },
    }
    const records = withPlaces(validRecords(reading), reading)
    return host.forge.exchange.import('system', { repositoryId, records }, settings)
  }

  #settings(): ImportOptions {
    const { onConflict, attribution } = this.#options
    return { onConflict, attribution, users: this.#place.users, signal: this.#io.stop }
  }

  #label(label: string): string | undefined {
    return this.#options.json ? undefined : label
  }

  #print(report: ImportReport | InspectReport, lost: readonly NotCarried[]): ExitCode {
    const whole = { ...report, notCarried: [...lost, ...report.notCarried] }
    const lines = this.#options.json ? [JSON.stringify(whole)] : reportLines(whole, this.#options)
    for (const line of lines) this.#io.out(line)
    return 'conflicts' in report && report.conflicts.total > 0 ? 1 : 0
  }

  /** Converts an error to the one that ends the command. It says what stays, and how to go on. */
  #failure(error: unknown): unknown {
    if (this.#io.stop.aborted) return new CommandError(3, `stopped: ${this.#outcome()}`)
    if (isForgeError(error, 'INVALID_DOCUMENT')) {
      const { violations, total } = error.details
      const count = total === 1 ? '1 violation' : `${total.toLocaleString('en')} violations`
      return new CommandError(1, `${shownSource(this.#place.source)} cannot be imported: ${count}`, violations)
    }
    if (isForgeError(error, 'IMPORT_CONFLICT')) {
      const { message } = conflictViolation(error.details)
      return new CommandError(1, `${message}: ${CONFLICT_FIX}; ${this.#outcome()}`)
    }
    const isOutage = isForgeError(error, 'STORAGE_BUSY') || isForgeError(error, 'STORAGE_UNAVAILABLE')
    if (!isOutage) return error
    const { shown } = this.#place.database
    return new CommandError(3, `database ${shown} cannot be used: ${error.message}; ${this.#outcome()}`)
  }

  #outcome(): string {
    const { created = 0, updated = 0 } = this.#written?.issues ?? {}
    const comments = this.#written?.comments.created ?? 0
    if (created + updated + comments === 0) return 'nothing was imported; run the same command again'
    const issues = `${(created + updated).toLocaleString('en')} issues and ${comments.toLocaleString('en')} comments`
    return `${issues} were imported and stay; run the same command again to import the rest`
  }
}

/** Yields the records of a source, and refuses it if it is not valid: a file may change between two readings. */
async function* validRecords(reading: SourceReading): AsyncGenerator<ExchangeRecord, void, void> {
  yield* reading.records()
  reading.refuseInvalid()
}

function withPlaces(
  records: AsyncIterable<ExchangeRecord>,
  reading: SourceReading,
): AsyncIterable<ExchangeRecord> & RecordLocator {
  return Object.assign(records, { place: () => reading.place() })
}

const CONFLICT_FIX = 'give --on-conflict skip or update, or remove the issue from the source'

function conflictError({ total, first }: InspectReport['conflicts']): CommandError {
  const count = total === 1 ? '1 conflict' : `${total.toLocaleString('en')} conflicts`
  return new CommandError(1, `${count}, nothing was imported: ${CONFLICT_FIX}`, first.map(conflictViolation))
}

function conflictViolation({
  number,
  reason,
  property,
  ...place
}: InspectReport['conflicts']['first'][number]): Violation {
  const message =
    reason === 'taken'
      ? `a pull request or a deleted issue has the number ${number}`
      : `issue ${number} exists and differs${property === undefined ? '' : ` in ${property}`}`
  return { ...place, code: 'conflict', message }
}

/** Returns the result, then the conflicts, what was dropped, and who has no account. */
function reportLines(
  report: ImportReport & Partial<InspectReport>,
  { dryRun, quiet }: ImportCommandOptions,
): readonly string[] {
  const { issues, comments, unknownUsers, notCarried, conflicts } = report
  const result = [
    ...(dryRun ? ['nothing was written; an import would report:'] : []),
    `issues: ${counts(issues)}`,
    `comments: ${counts(comments)}`,
    ...(conflicts === undefined || conflicts.total === 0 ? [] : [`conflicts: ${conflicts.total.toLocaleString('en')}`]),
    ...(conflicts?.first ?? []).map((conflict) => `conflict: ${violationLine(conflictViolation(conflict))}`),
  ]
  if (quiet) return result

  return [...result, ...notCarriedLines(notCarried), ...withoutAccount(unknownUsers).map(printable)]
}

function counts(all: ImportReport['issues']): string {
  return Object.entries(all)
    .map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    .join(', ')
}
