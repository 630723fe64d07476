import { existsSync } from 'node:fs'
import type { IdColumns } from '../storage/sqlite.ts'
import type { ForgeStorage } from '../storage/storage.ts'
import type { Environment } from './command.ts'
import { CommandError } from './command.ts'
import type { DatabaseAddress, DatabaseOptions } from './database.ts'
import { databaseAddress, unusable } from './database.ts'

/** Where the tables of a storage are, and how they store ids. */
export interface StorageSettings {
  readonly prefix: string | undefined
  readonly schema: string | undefined
  readonly ids: IdColumns
}

/** A kind of database: how to open its storage, and how to plan its tables without a connection. */
interface DatabaseKind {
  open(location: string, settings: StorageSettings): Promise<Pick<ForgeStorage, 'migrate' | 'schemaStatus' | 'close'>>
  plan(settings: StorageSettings & { readonly from: number }): Promise<readonly string[]>
}

/** Each kind loads its own driver. */
const KINDS: { readonly [K in DatabaseAddress['kind']]: DatabaseKind } = {
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
export function openStorage(
  { kind, location }: DatabaseAddress,
  settings: StorageSettings,
): ReturnType<DatabaseKind['open']> {
  return asUsage(KINDS[kind].open(location, settings))
}

/**
 * Returns the statements that `apply` would run, without a connection.
 * @throws CommandError (wrong usage) for an option that the storage does not accept
 */
export function planSchema(
  { kind }: DatabaseAddress,
  settings: StorageSettings & { readonly from: number },
): Promise<readonly string[]> {
  return asUsage(KINDS[kind].plan(settings))
}

/**
 * Checks the names of the tables of `forgelet serve` without a connection: a plan of them needs the same.
 * @throws CommandError (wrong usage)
 */
export async function refuseWrongPlace(database: DatabaseAddress, { prefix, schema }: DatabaseOptions): Promise<void> {
  if (prefix !== undefined || schema !== undefined) await planSchema(database, { prefix, schema, ids: {}, from: 0 })
}

/** A database that exists, and where its tables are. */
export interface ExistingDatabase {
  readonly database: DatabaseAddress
  readonly location: { readonly db: string; readonly prefix: string | undefined; readonly schema: string | undefined }
}

/**
 * Checks the options of a command that works on the database of `forgelet serve` and does not create it.
 *
 * @param refuseMemory - why `:memory:` is refused
 * @throws CommandError (wrong usage), or (database) if the file does not exist
 */
export async function existingDatabase(
  options: DatabaseOptions,
  environment: Environment,
  refuseMemory: string,
): Promise<ExistingDatabase> {
  const database = databaseAddress(options, environment, { refuseMemory })
  await refuseWrongPlace(database, options)
  refuseMissingFile(database, 'serve')
  const { prefix, schema } = options
  return { database, location: { db: database.location, prefix, schema } }
}

/**
 * Refuses an SQLite file that does not exist. SQLite would create it.
 *
 * @param creator - the command that creates it
 * @throws CommandError (database)
 */
export function refuseMissingFile(database: DatabaseAddress, creator: 'serve' | 'schema apply'): void {
  if (database.kind !== 'sqlite' || existsSync(database.location)) return
  throw unusable(database, `the file does not exist: correct the path, or create it with "forgelet ${creator}"`)
}

async function asUsage<T>(made: Promise<T>): Promise<T> {
  try {
    return await made
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(2, error.message)
    throw error
  }
}
