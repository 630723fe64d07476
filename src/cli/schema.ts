import type { IdColumns } from '../storage/sqlite.ts'
import type { ForgeStorage, SchemaStatus } from '../storage/storage.ts'
import type { OptionValues } from './arguments.ts'
import type { CommandIO, Environment, ExitCode } from './command.ts'
import { CommandError } from './command.ts'
import type { DatabaseAddress } from './database.ts'
import { databaseRefusal, databaseSetting, parseDatabase } from './database.ts'

/**
 * Reports the state of the tables of a database, prints the SQL that creates them, or brings them up to date.
 * @throws CommandError with the documented exit code
 */
export async function schema(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  if (options.action === 'plan') return plan(options, io)

  const storage = await openStorage(options)
  try {
    const run = options.action === 'status' ? status : apply
    const code = await Promise.race([run(storage, options, io), stopped(io.stop)])
    await storage.close()
    return code
  } catch (error) {
    // A storage that cannot be used may not close either. The process ends anyway.
    storage.close().catch(() => undefined)
    throw databaseRefusal(options.database.shown, error, options.ids)
  }
}

type Storage = Awaited<ReturnType<typeof openStorage>>

async function plan(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  const statements = await planSchema(options)
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
  drifted:
    'a table, view, column, index or trigger is missing, or another object has its name: restore it, or choose another prefix',
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
  const database = parseDatabase(databaseSetting(values.db, environment.FORGELET_DB))
  if (values.schema !== undefined && database.kind !== 'postgres') {
    throw new CommandError(2, '--schema is for PostgreSQL: leave it out, or give a postgres:// URL with --db')
  }
  if (values.from !== undefined && action !== 'plan') {
    throw new CommandError(
      2,
      `--from is for "forgelet schema plan": "forgelet schema ${action}" reads the version from the database`,
    )
  }
  if (database.location === ':memory:' && action !== 'plan') {
    throw new CommandError(2, '--db :memory: would be lost when this command ends: give a file, or a URL')
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

type StorageSettings = Pick<SchemaOptions, 'ids' | 'prefix' | 'schema'>

/** A kind of database: how to open its storage, and how to plan its tables without a connection. */
interface DatabaseKind {
  open(location: string, settings: StorageSettings): Promise<Pick<ForgeStorage, 'migrate' | 'schemaStatus' | 'close'>>
  plan(settings: StorageSettings & { readonly from: number }): Promise<readonly string[]>
}

/** Each kind loads its own driver. */
const KINDS: { readonly [K in SchemaOptions['database']['kind']]: DatabaseKind } = {
  sqlite: {
    open: async (location, settings) => (await import('../storage/sqlite.ts')).sqliteStorage(location, settings),
    plan: async (settings) => (await import('../storage/sqlite.ts')).sqliteSchemaPlan(settings),
  },
  postgres: {
    open: async (location, settings) => (await import('../storage/postgres.ts')).postgresStorage(location, settings),
    plan: async (settings) => (await import('../storage/postgres.ts')).postgresSchemaPlan(settings),
  },
  mysql: {
    open: async (location, settings) => (await import('../storage/mysql.ts')).mysqlStorage(location, settings),
    plan: async (settings) => (await import('../storage/mysql.ts')).mysqlSchemaPlan(settings),
  },
}

/**
 * Creates the storage that `--db` names. The storage connects on first use.
 * @throws CommandError (wrong usage) for an option that the storage does not accept
 */
function openStorage({ database, ...settings }: SchemaOptions): ReturnType<DatabaseKind['open']> {
  return asUsage(KINDS[database.kind].open(database.location, settings))
}

/**
 * Returns the statements that `apply` would run, without a connection.
 * @throws CommandError (wrong usage) for an option that the storage does not accept
 */
function planSchema({ database, from, ...settings }: SchemaOptions): Promise<readonly string[]> {
  return asUsage(KINDS[database.kind].plan({ ...settings, from }))
}

async function asUsage<T>(made: Promise<T>): Promise<T> {
  try {
    return await made
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(2, error.message)
    throw error
  }
}
