import type { DatabaseKind } from '../standalone/host-store/open-host-database.ts'
import { databaseStatus } from '../standalone/standalone.ts'
import type { IdColumns } from '../storage/sqlite.ts'
import type { ForgeStorage, SchemaStatus } from '../storage/storage.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, printResult, toldToStop } from './command.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { CREATION, databaseOf, existingDatabase, onDatabase } from './database.ts'

/** The options of `forgelet schema` and `forgelet doctor`. */
export interface SchemaOptions extends DatabaseOptions {
  /** The column types of the ids; undefined = `bigint`, or a database of `forgelet serve`. */
  readonly ids?: IdColumns | undefined
}

interface StorageKind {
  open(db: string, settings: TableSettings): Storage
  plan(settings: TableSettings): readonly string[]
}
type TableSettings = Pick<SchemaOptions, 'prefix' | 'schema' | 'ids'>
type Storage = Pick<ForgeStorage, 'migrate' | 'schemaStatus' | 'close'>

/** How the storage of each kind of database is opened and planned. Each loads its own driver. */
const STORAGES: { readonly [K in DatabaseKind]: () => Promise<StorageKind> } = {
  sqlite: async () => {
    const { sqliteStorage: open, sqliteSchemaPlan: plan } = await import('../storage/sqlite.ts')
    return { open, plan }
  },
  postgres: async () => {
    const { postgresStorage: open, postgresSchemaPlan: plan } = await import('../storage/postgres.ts')
    return { open, plan }
  },
  mysql: async () => {
    const { mysqlStorage: open, mysqlSchemaPlan: plan } = await import('../storage/mysql.ts')
    return { open, plan }
  },
}

/** Prints the SQL that creates the tables, without a connection. @throws CommandError with the documented exit code */
export function planSchema(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  const database = databaseOf(options, io.environment)
  return onDatabase<ExitCode>(database, async () => {
    const { prefix, schema, ids } = options
    const { plan } = await STORAGES[database.kind]()
    const statements = plan({ prefix, schema, ids })
    const lines = statements.map((statement) => `${statement};`)
    printResult(io, options, { statements }, lines)
    return 0
  })
}

/** Reports the state of the tables of a database. @throws CommandError with the documented exit code */
export async function schemaStatus(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  const database = existingDatabase(options, io.environment)
  const found = await onStorage(database, options, io, (storage) => storage.schemaStatus())
  return report(found, options, io)
}

/** Brings the tables of a database up to date. @throws CommandError with the documented exit code */
export async function applySchema(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  const made = await onStorage(databaseOf(options, io.environment), options, io, async (storage) => {
    await storage.migrate()
    return storage.schemaStatus()
  })
  return report(made, options, io)
}

/** Runs work on the storage of a database, until the command is stopped: what is not committed then is rolled back. */
function onStorage<T>(
  database: Database,
  { prefix, schema, ids }: SchemaOptions,
  io: CommandIO,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  return onDatabase(database, async () => {
    const { open } = await STORAGES[database.kind]()
    const storage = open(database.db, { prefix, schema, ids })
    const stopped = toldToStop(io).then(() => {
      throw new CommandError(3, 'stopped before the end: no change is half applied; run the same command again')
    })
    try {
      return await Promise.race([work(storage), stopped])
    } finally {
      await Promise.race([storage.close(), stopped]).catch(() => undefined) // what the work throws says more
    }
  })
}

function report({ state, warnings }: SchemaStatus, options: SchemaOptions, io: CommandIO): ExitCode {
  printResult(io, options, { state, warnings }, [state, ...warnings.map(asWarning)])
  if (!options.json && state !== 'current') io.err(`forgelet: ${WHAT_TO_DO[state]}`)
  return state === 'current' && warnings.length === 0 ? 0 : 1
}

/**
 * Prints the state of the tables in a database, the settings that endanger its data, and what to do.
 * @throws CommandError with the documented exit code
 */
export async function doctor(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  const database = existingDatabase(options, io.environment)
  const { forge, server } =
    options.ids === undefined
      ? await onDatabase(database, () => databaseStatus(database))
      : await onStorage(database, options, io, ofApplication)
  // An application has its users and issues in tables of its own.
  const isOfApplication = server === 'empty' && forge.state !== 'empty'
  const described = (state: State) => (state === 'current' ? state : `${state}: ${WHAT_TO_DO[state]}`)
  printResult(io, options, { db: database.shown, forge, server }, [
    `tables of the forge:  ${described(forge.state)}`,
    `tables of the server: ${isOfApplication ? 'none: it is the forge of an application' : described(server)}`,
    ...forge.warnings.map(asWarning),
  ])
  const states = isOfApplication ? [forge.state] : [forge.state, server]
  return states.every((state) => state === 'current') && forge.warnings.length === 0 ? 0 : 1
}

async function ofApplication(storage: Storage) {
  return { forge: await storage.schemaStatus(), server: 'empty' } as const
}

function asWarning(text: string): string {
  return `warning: ${text}`
}

type State = SchemaStatus['state']

const WHAT_TO_DO: { readonly [S in Exclude<State, 'current'>]: string } = {
  empty: `there are no tables: ${CREATION}, or name another database`,
  outdated: `the tables are older than this release needs: ${CREATION}`,
  'too-new': 'the tables are for newer releases only: install a newer forgelet',
  drifted: 'a table, view or column is missing, or another object has its name: restore it from a copy',
}

const ID_KINDS = ['user', 'organization', 'repository', 'issue'] as const
const ID_COLUMNS = ['bigint', 'uuid', 'text'] as const

/** Parses `--ids`, such as `user=uuid,issue=text`. @throws CommandError (wrong usage) */
export function idColumns(text: string): IdColumns {
  const pairs = text.split(',').map((pair) => {
    const [kindNamed, columnNamed] = pair.split('=')
    const kind = ID_KINDS.find((known) => known === kindNamed)
    const column = ID_COLUMNS.find((known) => known === columnNamed)
    if (kind !== undefined && column !== undefined) return [kind, column] as const
    const lists = `of the kinds ${ID_KINDS.join(', ')} and the types ${ID_COLUMNS.join(', ')}`
    throw new CommandError(2, `--ids ${text}: write a list such as user=uuid,issue=text, ${lists}`)
  })
  return Object.fromEntries(pairs)
}
