import type { ForgeStorage } from '../storage/storage.ts'
import { CommandError } from './command-error.ts'
import type { SchemaOptions } from './schema-options.ts'

type Told = Pick<SchemaOptions, 'ids' | 'prefix' | 'schema'>

/** A kind of database: how its storage is opened, and how its tables are planned without one. */
interface DatabaseKind {
  open(location: string, told: Told): Promise<Pick<ForgeStorage, 'migrate' | 'schemaStatus' | 'close'>>
  plan(told: Told & { readonly from: number }): Promise<readonly string[]>
}

/** Each loads its own driver. */
const KINDS: { readonly [K in SchemaOptions['database']['kind']]: DatabaseKind } = {
  sqlite: {
    open: async (location, told) => (await import('../storage/sqlite.ts')).sqliteStorage(location, told),
    plan: async (told) => (await import('../storage/sqlite.ts')).sqliteSchemaPlan(told),
  },
  postgres: {
    open: async (location, told) => (await import('../storage/postgres.ts')).postgresStorage(location, told),
    plan: async (told) => (await import('../storage/postgres.ts')).postgresSchemaPlan(told),
  },
  mysql: {
    open: async (location, told) => (await import('../storage/mysql.ts')).mysqlStorage(location, told),
    plan: async (told) => (await import('../storage/mysql.ts')).mysqlSchemaPlan(told),
  },
}

/** Makes the storage that `--db` names; it connects when it is used. @throws CommandError (wrong usage) for an option it does not take */
export function openStorage({ database, ...told }: SchemaOptions): ReturnType<DatabaseKind['open']> {
  return asUsage(KINDS[database.kind].open(database.location, told))
}

/** The statements that `apply` would run, without a connection. @throws CommandError (wrong usage) for an option the storage does not take */
export function planSchema({ database, from, ...told }: SchemaOptions): Promise<readonly string[]> {
  return asUsage(KINDS[database.kind].plan({ ...told, from }))
}

async function asUsage<T>(made: Promise<T>): Promise<T> {
  try {
    return await made
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(2, error.message)
    throw error
  }
}
