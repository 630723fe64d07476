import type { Command } from '@commander-js/extra-typings'
import { Option } from '@commander-js/extra-typings'
import type {
  AttributionCounts,
  ImportOptions,
  ImportReport,
  InspectReport,
  ReattributedPerson,
  ReattributeReport,
  Violation,
} from 'forgelet'
import { isForgeError } from 'forgelet'
import type { CommandIO } from '../command.ts'
import { CommandError, counted, newCommand, printable, printResult, violationLine } from '../command.ts'
import { driverReport, unusable } from '../database.ts'
import { readDataFile } from '../files.ts'
import type { OpenRepository } from './open-repository.ts'
import { inRepository, withRepository } from './open-repository.ts'
import type { Source, SourceOptions } from './source.ts'
import { ofSource, onSource } from './source.ts'
import { displayedNameLines, notCarriedLines, SourceReading } from './source-reading.ts'

const IMPORT_HELP = `
  forgelet issues import issues.json --repo acme/rocket --db forge.sqlite --dry-run
  forgelet issues import gitlab-export --repo acme/rocket --attribution accounts --users users.json

SOURCE is checked whole before the first issue is written. Numbers are kept. An issue that exists
and is the same is left, so an import that was broken off is finished by running it again.`

/** Adds `forgelet issues import`. The source is checked whole before the first issue is written. */
export function addImport(issues: Command, io: CommandIO): void {
  const onConflict = new Option('--on-conflict <how>', 'issues that exist and differ')
  const attribution = new Option('--attribution <how>', ATTRIBUTION)
  const command = newCommand(issues, 'import', 'write a source into a repository of "forgelet serve"', IMPORT_HELP)
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

const REATTRIBUTE_HELP = `
  forgelet issues reattribute --repo acme/rocket --users users.json --db forge.sqlite

The map {"ada": "ada.l"} gives what ada wrote, was assigned or reacted to the account ada.l. What
has an account keeps it: a run that was broken off is finished by running it again.`

/** Adds `forgelet issues reattribute`. */
export function addReattribute(issues: Command, io: CommandIO): void {
  const description = 'give accounts to people who were imported by their names'
  inRepository(newCommand(issues, 'reattribute', description, REATTRIBUTE_HELP))
    .requiredOption('--users <file>', 'map of names to accounts (JSON or YAML)')
    .action(async (options) => {
      const people = await readUsers(options.users)
      await withRepository(options, io, async ({ forge, repositoryId }) => {
        try {
          const request = { repositoryId, people }
          const report = await forge.exchange.reattribute('system', request, { signal: io.stop })
          printResult(io, options, report, reattributionLines(report).map(printable))
        } catch (error) {
          if (!io.stop.aborted) throw error
          throw new CommandError(3, 'stopped: who got an account keeps it; run the same command again for the others')
        }
      })
    })
}

/** Returns the result, then what each person got, and who has no account. */
function reattributionLines({ people, remaining }: ReattributeReport): readonly string[] {
  const total = { issues: 0, assignees: 0, comments: 0, reactions: 0 }
  for (const person of people) for (const part of PARTS) total[part] += person[part]
  return [
    isNothing(total) ? 'nothing was changed' : `now with an account: ${counts(total)}`,
    ...people.map((person) => `${person.name}: ${outcomeFor(person)}`),
    ...withoutAccount(remaining),
  ]
}

const PARTS = ['issues', 'assignees', 'comments', 'reactions'] as const

function outcomeFor({ name: _, named, remains, ...parts }: ReattributedPerson): string {
  if (named === 0) return 'named nowhere'
  if (remains) return 'no account here'
  return isNothing(parts) ? 'has an account already' : counts(parts)
}

function isNothing(all: AttributionCounts): boolean {
  return PARTS.every((part) => all[part] === 0)
}

/** Reads the value of `--users`: names, and names of accounts. @throws CommandError with the documented exit code */
async function readUsers(file: string): Promise<{ readonly [name: string]: string | null }> {
  const value = await readDataFile('users', file, 2)
  if (isUsers(value)) return value
  throw new CommandError(1, `users ${file} is not valid: give a map of names to names, or to null`)
}

function isUsers(value: unknown): value is { readonly [name: string]: string | null } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((name) => name === null || (typeof name === 'string' && name !== ''))
}

/** Returns counts as a line, such as "3 created, 0 updated". */
function counts<K extends string>(all: Readonly<Record<K, number>>): string {
  return Object.entries<number>(all)
    .map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    .join(', ')
}

/** Returns who has no account as a line, such as "no account here, kept as names: ada (3), and 7 more". Empty: no one. */
function withoutAccount({ total, first }: ImportReport['unknownUsers']): readonly string[] {
  if (total === 0) return []

  const people = first.map(({ name, count }) => `${name} (${count.toLocaleString('en')})`)
  const rest = total - people.length
  const unknown = [...people, ...(rest > 0 ? [`and ${rest.toLocaleString('en')} more`] : [])].join(', ')
  return [`no account here, kept as names: ${unknown}`]
}
