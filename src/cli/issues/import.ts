import type { NotCarried } from '../../exchange/exchange.ts'
import type { ImportReport, InspectReport, Violation } from '../../index.ts'
import { isForgeError } from '../../index.ts'
import type { CommandIO, ExitCode } from '../command.ts'
import { CommandError, counted, printable, printResult, violationLine } from '../command.ts'
import { unusable } from '../database.ts'
import type { OpenRepository, RepositoryOptions } from './open-repository.ts'
import { withRepository } from './open-repository.ts'
import { readUsers, withoutAccount } from './people.ts'
import type { Source, SourceOptions } from './source-reading.ts'
import { copyOfPipe, notCarriedLines, openSource, shownSource } from './source-reading.ts'

/** The options of `forgelet issues import`. */
export interface ImportCommandOptions extends RepositoryOptions, SourceOptions {
  readonly dryRun?: true | undefined
  readonly onConflict: 'refuse' | 'skip' | 'update'
  readonly attribution: 'names' | 'accounts'
  /** A file. */
  readonly users?: string | undefined
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
      return await checkAndWrite({ ...repository, source: { ...source, copy: copy?.path }, users }, options, io)
    } finally {
      await copy?.remove()
    }
  })
}

interface ImportPlace extends OpenRepository {
  readonly source: Source
  readonly users: { readonly [name: string]: string | null }
}

async function checkAndWrite(place: ImportPlace, options: ImportCommandOptions, io: CommandIO): Promise<ExitCode> {
  const { host, repositoryId, source, users } = place
  const { exchange } = host.forge
  const { onConflict, attribution, dryRun, json } = options
  const settings = { onConflict, attribution, users, signal: io.stop }
  const open = (label: string) => openSource(source, io, json ? undefined : label)
  const onBatch = (soFar: ImportReport): void => {
    written = soFar
  }
  let written: ImportReport | undefined
  try {
    const reading = await open('checking')
    const found = await exchange.inspect('system', { repositoryId, records: reading.validRecords() }, settings)
    const { total, first } = found.conflicts
    if (!dryRun && total > 0) {
      const message = `${counted(total, 'conflict')}, nothing was imported: ${CONFLICT_FIX}`
      throw new CommandError(1, message, first.map(conflictViolation))
    }
    const records = async () => ({ repositoryId, records: (await open('importing')).validRecords() })
    const report = dryRun ? found : await exchange.import('system', await records(), { ...settings, onBatch })
    const whole = { ...report, notCarried: [...reading.notCarried, ...report.notCarried] }
    printResult(io, options, whole, reportLines(whole, options))
    return total > 0 ? 1 : 0
  } catch (error) {
    throw failure(error, place, io.stop, written)
  }
}

/** Converts an error to the one that ends the command. It says what stays, and how to go on. */
function failure(
  error: unknown,
  { source, database }: ImportPlace,
  stop: AbortSignal,
  written: ImportReport | undefined,
): unknown {
  const outcome = outcomeOf(written)
  if (stop.aborted) return new CommandError(3, `stopped: ${outcome}`)
  if (isForgeError(error, 'INVALID_DOCUMENT')) {
    const { violations, total } = error.details
    return new CommandError(1, `${shownSource(source)} cannot be imported: ${counted(total, 'violation')}`, violations)
  }
  if (isForgeError(error, 'IMPORT_CONFLICT')) {
    const { message } = conflictViolation(error.details)
    return new CommandError(1, `${message}: ${CONFLICT_FIX}; ${outcome}`)
  }
  const isOutage = isForgeError(error, 'STORAGE_BUSY') || isForgeError(error, 'STORAGE_UNAVAILABLE')
  return isOutage ? unusable(database, `${error.message}; ${outcome}`) : error
}

function outcomeOf(written: ImportReport | undefined): string {
  const { created = 0, updated = 0 } = written?.issues ?? {}
  const comments = written?.comments.created ?? 0
  if (created + updated + comments === 0) return 'nothing was imported; run the same command again'
  const issues = `${(created + updated).toLocaleString('en')} issues and ${comments.toLocaleString('en')} comments`
  return `${issues} were imported and stay; run the same command again to import the rest`
}

const CONFLICT_FIX = 'give --on-conflict skip or update, or remove the issue from the source'

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
  report: ImportReport & Partial<InspectReport> & { readonly notCarried: readonly NotCarried[] },
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
  return quiet ? result : [...result, ...notCarriedLines(notCarried), ...withoutAccount(unknownUsers).map(printable)]
}

function counts(all: ImportReport['issues']): string {
  return Object.entries(all)
    .map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    .join(', ')
}
