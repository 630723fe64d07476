import type { IdColumns } from '../storage/sqlite.ts'
import type { SchemaStatus } from '../storage/storage.ts'
import type { CommandIO, Environment, ExitCode } from './command.ts'
import { CommandError } from './command.ts'
import type { DatabaseAddress } from './database.ts'
import { databaseAddress, databaseRefusal } from './database.ts'
import type { OptionValues } from './options.ts'
import type { StorageSettings } from './storage-kinds.ts'
import { openStorage, planSchema } from './storage-kinds.ts'

/**
 * Reports the state of the tables of a database, prints the SQL that creates them, or brings them up to date.
 * @throws CommandError with the documented exit code
 */
export async function schema(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  if (options.action === 'plan') return plan(options, io)

  const storage = await openStorage(options.database, storageSettings(options))
  try {
    const run = options.action === 'status' ? status : apply
    const code = await Promise.race([run(storage, options, io), stopped(io.stop)])
    await storage.close()
    return code
  } catch (error) {
    // A storage that cannot be used may not close either. The process ends anyway.
    storage.close().catch(() => undefined)
    throw databaseRefusal(options.database, error, options.ids)
  }
}

function storageSettings({ prefix, schema, ids }: SchemaOptions): StorageSettings {
  return { prefix, schema, ids }
}

type Storage = Awaited<ReturnType<typeof openStorage>>

async function plan(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  const statements = await planSchema(options.database, { ...storageSettings(options), from: options.from })
  if (options.json) io.out(JSON.stringify({ statements }))
  else for (const statement of statements) io.out(`${statement};`)
  return 0
}

async function status(storage: Storage, { json }: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  const found = await storage.schemaStatus()
  print(found, json, io)
  return found.state === 'current' && found.warnings.length === 0 ? 0 : 1
}

async function apply(storage: Storage, { database, json }: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  const { state } = await storage.schemaStatus()
  if (state === 'current') io.err(`forgelet: the schema of ${database.shown} is already up to date`)
  else await migrate(storage, `the schema of ${database.shown} is ${state}: updating it`, io)

  const made = await storage.schemaStatus()
  print(made, json, io)
  return made.state === 'current' ? 0 : 1
}

const REPORT_INTERVAL_MS = 10_000

async function migrate(storage: Storage, line: string, io: CommandIO): Promise<void> {
  const began = performance.now()
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`
  io.err(`forgelet: ${line}`)
  const reporting = setInterval(
    () => io.err(`forgelet: still running or waiting after ${seconds()}`),
    REPORT_INTERVAL_MS,
  )
  try {
    await storage.migrate()
  } finally {
    clearInterval(reporting)
  }
  io.err(`forgelet: done in ${seconds()}`)
}

function print({ state, warnings }: SchemaStatus, json: boolean, io: CommandIO): void {
  if (json) {
    io.out(JSON.stringify({ state, warnings }))
    return
  }
  io.out(state)
  for (const warning of warnings) io.out(`warning: ${warning}`)
  if (state !== 'current') io.err(`forgelet: ${FIXES[state]}`)
}

const FIXES: { readonly [S in Exclude<SchemaStatus['state'], 'current'>]: string } = {
  empty: 'there are no tables yet: run "forgelet schema apply"',
  outdated: 'the tables are older than this release needs: run "forgelet schema apply"',
  'too-new': 'the tables are for newer releases only: install a newer forgelet',
  drifted: 'a table, view or column is missing, or another object has its name: restore it, or choose another prefix',
}

/**
 * Settles only when the command is stopped. The running migration is then abandoned: it is applied completely or not at
 * all.
 */
async function stopped(stop: AbortSignal): Promise<never> {
  if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
  throw new CommandError(
    3,
    'stopped before the end: no change is half applied; run "forgelet schema apply" again to continue',
  )
}

/** The actions of `forgelet schema`. */
export type SchemaAction = 'status' | 'plan' | 'apply'

/** The options of `forgelet schema`, checked as far as possible without a storage. */
export interface SchemaOptions {
  readonly action: SchemaAction
  readonly database: DatabaseAddress
  readonly prefix: string | undefined
  readonly schema: string | undefined
  readonly ids: IdColumns
  /** For `plan`: the current version of the tables. */
  readonly from: number
  readonly json: boolean
}

/**
 * Checks the words and options of `forgelet schema`.
 * @throws CommandError (wrong usage)
 */
export function schemaOptions(words: readonly string[], values: OptionValues, environment: Environment): SchemaOptions {
  const action = actionNamed(words)
  const connects = action !== 'plan'
  const database = databaseAddress(values, environment, {
    refuseMemory: connects ? 'would be lost when this command ends: give a file, or a URL' : undefined,
    connects,
  })
  if (values.from !== undefined && connects) {
    throw new CommandError(
      2,
      `--from is for "forgelet schema plan": "forgelet schema ${action}" reads the version from the database`,
    )
  }
  return {
    action,
    database,
    prefix: values.prefix,
    schema: values.schema,
    ids: idColumns(values.ids ?? ''),
    from: version(values.from ?? '0'),
    json: values.json === true,
  }
}

function actionNamed([action, ...others]: readonly string[]): SchemaAction {
  if (others.length > 0) throw new CommandError(2, `unexpected argument "${others[0]}": options start with "--"`)
  if (action === 'status' || action === 'plan' || action === 'apply') return action
  throw new CommandError(2, 'name an action: "status", "plan" or "apply"; see "forgelet schema --help"')
}

const DATABASE_KINDS = ['user', 'organization', 'repository', 'issue'] as const
const COLUMNS = ['bigint', 'uuid', 'text'] as const

function idColumns(text: string): IdColumns {
  if (text === '') return {}

  return Object.assign({}, ...text.split(',').map((pair) => idColumn(text, pair)))
}

function idColumn(text: string, pair: string): IdColumns {
  const [kindNamed, columnNamed, ...others] = pair.split('=')
  const kind = DATABASE_KINDS.find((known) => known === kindNamed)
  const column = COLUMNS.find((known) => known === columnNamed)
  if (kind !== undefined && column !== undefined && others.length === 0) return { [kind]: column }
  throw new CommandError(
    2,
    `--ids ${text}: write a list such as user=uuid,issue=text, of the kinds ${DATABASE_KINDS.join(', ')} and the types ${COLUMNS.join(', ')}`,
  )
}

function version(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new CommandError(2, `--from ${text}: give the version of the tables, an integer`)
}
