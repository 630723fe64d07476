import type { Command } from '@commander-js/extra-typings'
import { Option } from '@commander-js/extra-typings'
import type { ImportOptions, ImportReport, InspectReport, Violation } from 'forgelet'
import { isForgeError } from 'forgelet'
import type { CommandIO } from '../command.ts'
import { CommandError, counted, newCommand, printable, printResult, violationLine } from '../command.ts'
import { driverReport, unusable } from '../database.ts'
import type { OpenRepository } from './open-repository.ts'
import { inRepository, withRepository } from './open-repository.ts'
import { counts, readUsers, withoutAccount } from './people.ts'
import type { Source, SourceOptions } from './source.ts'
import { ofSource, onSource } from './source.ts'
import { displayedNameLines, notCarriedLines, SourceReading } from './source-reading.ts'

const HELP = `
  forgelet issues import issues.json --repo acme/rocket --db forge.sqlite --dry-run
  forgelet issues import gitlab-export --repo acme/rocket --attribution accounts --users users.json

SOURCE is checked whole before the first issue is written. Numbers are kept. An issue that exists
and is the same is left, so an interrupted import is finished by running it again.`

/** Adds `forgelet issues import`. The source is checked whole before the first issue is written. */
export function addImport(issues: Command, io: CommandIO): void {
  const onConflict = new Option('--on-conflict <how>', 'issues that exist and differ')
  const attribution = new Option('--attribution <how>', ATTRIBUTION)
  const command = newCommand(issues, 'import', 'write a source into a repository of "forgelet serve"', HELP)
  ofSource(inRepository(command))
    .option('--dry-run', 'report what the import would do, and write nothing')
    .addOption(onConflict.choices(['refuse', 'skip', 'update']).default('refuse'))
    .addOption(attribution.choices(['names', 'accounts']).default('names'))
    .addOption(new Option('--on-invalid <skip>', 'records that are not valid: leave them out').choices(['skip']))
    .option('--replace-nul', 'write U+FFFD for NUL, which some databases cannot store')
    .option('--users <file>', 'map of names to accounts, or to null (JSON or YAML)')
    .action(async (path, options) => {
      const { onConflict, attribution } = options
      const users = options.users === undefined ? {} : await readUsers(options.users)
      const settings = { onConflict, attribution, users, signal: io.stop }
      await withRepository(options, io, (repository) =>
        onSource(path, options, io, 'imported', (source) =>
          checkAndWrite({ ...repository, source, settings }, options, io),
        ),
      )
    })
}

const ATTRIBUTION = 'names: keep names as text; accounts: attribute to accounts'

type CheckOptions = SourceOptions & { readonly dryRun?: true | undefined }

interface CheckedImport extends OpenRepository {
  readonly source: Source
  readonly settings: ImportOptions
}

async function checkAndWrite(checked: CheckedImport, options: CheckOptions, io: CommandIO): Promise<void> {
  const { forge, repositoryId, source, settings } = checked
  const { exchange } = forge
  const { dryRun, onInvalid } = options
  const settingsOf = (reading: SourceReading): ImportOptions =>
    onInvalid === 'skip' ? { ...settings, onInvalid: (violation) => reading.refuse(violation) } : settings
  let outcome = 'nothing was imported; run the same command again'
  try {
    const reading = new SourceReading(source, options, io, 'checking')
    const found = await exchange.inspect('system', { repositoryId, records: reading }, settingsOf(reading))
    const { total, first } = found.conflicts
    if (!dryRun && total > 0) {
      const message = `${counted(total, 'conflict')}, nothing was imported: ${CONFLICT_FIX}`
      throw new CommandError(1, message, first.map(conflictViolation))
    }
    let report: ImportReport = found
    if (!dryRun) {
      outcome = 'what was imported stays; run the same command again for the rest'
      const records = new SourceReading(source, options, io, 'importing')
      report = await exchange.import('system', { repositoryId, records }, settingsOf(records))
    }
    const { violations, total: invalid } = reading
    const leftOut = onInvalid === undefined ? {} : { violations, total: invalid }
    const whole = { ...report, notCarried: [...reading.notCarried, ...report.notCarried], ...leftOut }
    printResult(io, options, whole, reportLines(whole, options))
    if (total > 0) io.exitCode = 1
  } catch (error) {
    throw failure(error, checked, io.stop, outcome)
  }
}

/** Converts an error to the one that ends the command. It says what stays, and how to go on. */
function failure(error: unknown, { source, database }: CheckedImport, stop: AbortSignal, outcome: string): unknown {
  if (stop.aborted) return new CommandError(3, `stopped: ${outcome}`)
  if (isForgeError(error, 'INVALID_DOCUMENT')) {
    const { violations, total } = error.details
    return new CommandError(1, `${source.shown} cannot be imported: ${counted(total, 'violation')}`, violations)
  }
  if (isForgeError(error, 'IMPORT_CONFLICT')) {
    const { message } = conflictViolation(error.details)
    return new CommandError(1, `${message}: ${CONFLICT_FIX}; ${outcome}`)
  }
  const isOutage = isForgeError(error, 'STORAGE_BUSY') || isForgeError(error, 'STORAGE_UNAVAILABLE')
  const reason = isOutage ? error.message : driverReport(error)
  return reason === undefined ? error : unusable(database, `${reason}; ${outcome}`)
}

const CONFLICT_FIX = 'give --on-conflict skip or update, or remove the issue from the source'

type Conflict = InspectReport['conflicts']['first'][number]

function conflictViolation({ number, reason, property, ...position }: Conflict): Violation {
  const message =
    reason === 'taken'
      ? `a pull request or a deleted issue has the number ${number}`
      : `issue ${number} exists and differs${property === undefined ? '' : ` in ${property}`}`
  return { ...position, code: 'conflict', message }
}

/** What was done, and the violations of the records that were left out. */
type WholeReport = ImportReport & Partial<InspectReport> & Partial<Pick<SourceReading, 'violations' | 'total'>>

/** Returns the result, then the conflicts, what was left out or dropped, and who has no account. */
function reportLines(report: WholeReport, { dryRun, quiet }: CheckOptions): readonly string[] {
  const { issues, comments, unknownUsers, notCarried, conflicts, violations = [], total = 0 } = report
  const result = [
    ...(dryRun ? ['nothing was written; an import would report:'] : []),
    `issues: ${counts(issues)}`,
    `comments: ${counts(comments)}`,
    ...(conflicts === undefined || conflicts.total === 0 ? [] : [`conflicts: ${conflicts.total.toLocaleString('en')}`]),
    ...(total === 0 ? [] : [`not valid, and left out: ${counted(total, 'violation')}`]),
    ...violations.map((violation) => `left out: ${violationLine(violation)}`),
    ...(conflicts?.first ?? []).map((conflict) => `conflict: ${violationLine(conflictViolation(conflict))}`),
  ]
  if (quiet) return result
  const names = dryRun ? displayedNameLines(notCarried) : []
  return [...result, ...notCarriedLines(notCarried), ...names, ...withoutAccount(unknownUsers).map(printable)]
}
