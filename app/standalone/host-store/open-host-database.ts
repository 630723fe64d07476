import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SchemaStatus, SqlDialectName, SqlStorage } from 'forgelet/storage'
import type { CopiedTable, CopyOptions, CopyReport } from 'forgelet/storage/copy'
import type { SqlStorageOptions } from 'forgelet/storage/sqlite'
import { run } from '../steps.ts'
import { HostDatabase } from './host-database.ts'
import { check, hostState, migrateHost, unavailable } from './host-schema.ts'
import { HOST_TABLES, isText } from './tables.ts'

/** Where the database of a standalone host is. */
export interface DatabaseLocation {
  /**
   * `postgres://…` (PostgreSQL 13 and newer), `mysql://…` (MariaDB 10.6 and newer), an SQLite file, which is created if
   * it is missing, or `:memory:`. Any number of processes can be open on one server or file.
   */
  readonly db: string
  /**
   * The prefix of the names of the forge's tables; the host's have it too, followed by `host_`. Default: `forgelet_`, and
   * `host_` for those of the host.
   */
  readonly prefix?: string | undefined
  /** The schema of all tables, on PostgreSQL; it is created if it does not exist. Default: that of the connection. */
  readonly schema?: string | undefined
}

/** What the tables of a forge depend on in the database of an application. */
export type TableOptions = Pick<SqlStorageOptions, 'ids' | 'tables'>

/**
 * Opens a database. It is connected to when it is first used.
 *
 * @param tables - the types of ids and the tables of the host, for the forge of an application
 * @throws TypeError if `db` is of another kind, or if a prefix or a schema is invalid; ForgeError `STORAGE_UNAVAILABLE`
 * if an SQLite file cannot be one
 */
export async function openHostDatabase(location: DatabaseLocation, tables?: TableOptions): Promise<HostDatabase> {
  return new HostDatabase(await openStorage(location, tables), location)
}

/** Each kind loads its own driver. A transaction is passed to the storage that it is of, whatever its type. */
async function openStorage(location: DatabaseLocation, tables?: TableOptions): Promise<SqlStorage<unknown>>
async function openStorage(location: DatabaseLocation, tables?: TableOptions): Promise<object> {
  const { db, prefix, schema } = location
  switch (kindOf(location)) {
    case 'sqlite': {
      refuseUnusual(db)
      return (await import('forgelet/storage/sqlite')).sqliteStorage(db, { prefix, ...tables })
    }
    case 'postgres':
      return (await import('forgelet/storage/postgres')).postgresStorage(db, { prefix, schema, ...tables })
    case 'mariadb':
      return (await import('forgelet/storage/mariadb')).mariadbStorage(db, { prefix, ...tables })
  }
}

/** Refuses a path that cannot be a file of SQLite, which would wait for a pipe, and write into a device. */
function refuseUnusual(file: string): void {
  if (file === ':memory:') return
  if (!existsSync(dirname(file))) throw unavailable('its directory does not exist: create it, or name another file')
  if (!existsSync(file)) return

  const stats = statSync(file)
  if (stats.isDirectory()) throw unavailable('it is a directory: name a file in it')
  if (!stats.isFile()) throw unavailable('it is a pipe or a device: name an ordinary file')
}

/** Like `openHostDatabase`, and closes the database after the work. */
export async function withHostDatabase<T>(
  location: DatabaseLocation,
  work: (database: HostDatabase) => Promise<T>,
  tables?: TableOptions,
): Promise<T> {
  const database = await openHostDatabase(location, tables)
  try {
    return await work(database)
  } finally {
    await database.storage.close().catch(() => undefined) // what the work throws says more
  }
}

/**
 * Like `withHostDatabase`, for a database that `forgelet serve` has set up.
 * @throws ForgeError `STORAGE_UNAVAILABLE`, also if the file does not exist
 */
async function onExistingDatabase<T>(
  location: DatabaseLocation,
  work: (database: HostDatabase) => Promise<T>,
  tables?: TableOptions | undefined,
): Promise<T> {
  if (typeof location !== 'object' || location === null) {
    throw new TypeError("location must be an object such as { db: 'forge.sqlite' }")
  }
  if (kindOf(location) === 'sqlite' && !existsSync(location.db)) {
    throw unavailable('the file does not exist: name the file of "forgelet serve"')
  }
  return withHostDatabase(location, work, tables)
}

/**
 * Like `onExistingDatabase`, for work that needs all tables as this release has them.
 * @throws ForgeError `SCHEMA_OUTDATED` if a table is missing or older, `SCHEMA_TOO_NEW`
 */
export function onReadyDatabase<T>(
  location: DatabaseLocation,
  work: (database: HostDatabase) => Promise<T>,
): Promise<T> {
  return onExistingDatabase(location, async (database) => {
    await check(database)
    return work(database)
  })
}

/** What is known of a database. */
export interface DatabaseStatus {
  /** The tables of the forge, and settings that endanger committed data. */
  readonly forge: SchemaStatus
  /** The tables of the server. `empty` beside a forge: it is that of an application. */
  readonly server: SchemaStatus['state']
}

/**
 * Reads the state of the tables of a database. Writes nothing.
 *
 * @param tables - the types of ids and the tables of the host, for the database of an application
 * @throws ForgeError `STORAGE_UNAVAILABLE`, `STORAGE_BUSY` if the database cannot be reached or used
 */
export function databaseStatus(location: DatabaseLocation, tables?: TableOptions | undefined): Promise<DatabaseStatus> {
  return onExistingDatabase(location, (database) => statusOf(database, tables), tables)
}

/** Same as `databaseStatus`, for a database that is open. */
async function statusOf(database: HostDatabase, tables?: TableOptions): Promise<DatabaseStatus> {
  return {
    forge: await database.storage.schemaStatus(),
    // An application that describes its tables is not the ready server.
    server: tables?.tables === undefined ? (await run(hostState(database))).state : 'empty',
  }
}

/** How a database is copied. */
export interface DatabaseCopyOptions extends Pick<CopyOptions, 'empty' | 'onProgress' | 'signal'> {
  /** The types of ids and the tables of the host, for the forge of an application. */
  readonly tables?: TableOptions | undefined
  /** Calls `work`, which reads or writes the target, and marks its errors as those of the target. */
  inTarget<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Copies the tables of a forge to another database, with those of the ready server unless it is the forge of an application.
 *
 * @throws ForgeError `COPY_REFUSED`, `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`, `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
 */
export async function copyDatabase(
  from: DatabaseLocation,
  to: DatabaseLocation,
  { tables, ...options }: DatabaseCopyOptions,
): Promise<CopyReport> {
  const { copyForge } = await import('forgelet/storage/copy')
  const copy = async (source: HostDatabase): Promise<CopyReport> => {
    const { forge, server } = await statusOf(source, tables)
    const isOfServer = server !== 'empty' || forge.state === 'empty'
    if (isOfServer) await check(source)
    const into = async (target: HostDatabase): Promise<CopyReport> => {
      if (isOfServer) await options.inTarget(() => migrateHost(target))
      const copied = isOfServer ? copiedTables(source, target) : []
      return copyForge(source.storage, target.storage, { ...options, tables: copied })
    }
    return withHostDatabase(to, into, tables)
  }
  return onExistingDatabase(from, copy, tables)
}

function copiedTables(from: HostDatabase, to: HostDatabase): readonly CopiedTable[] {
  const { ledger: _, ...tables } = HOST_TABLES
  return Object.entries(tables).map(([name, { columns, key }]) => ({
    name,
    from: { table: `${from.prefix}${name}`, schema: from.schema },
    to: { table: `${to.prefix}${name}`, schema: to.schema },
    columns: Object.fromEntries(
      Object.entries(columns).map(([column, type]) => [column, isText(type) ? 'text' : 'integer'] as const),
    ),
    key,
  }))
}

/** Returns the kind of server that a URL names. Undefined: it is no URL of one of them, so it may be a file. */
export function serverKind(db: string): 'postgres' | 'mariadb' | undefined {
  if (/^postgres(ql)?:\/\//i.test(db)) return 'postgres'
  return /^(mysql|mariadb):\/\//i.test(db) ? 'mariadb' : undefined
}

/** Returns whether a text is a URL of something that cannot be opened, which SQLite would take for the name of a new file. */
export function isOtherUrl(db: string): boolean {
  return serverKind(db) === undefined && /:\/\/|^(?:file|jdbc|sqlite3?|postgres(?:ql)?|mysql|mariadb):/i.test(db)
}

/** The message shows at most the scheme of a URL, which may contain a password. */
function kindOf({ db, schema }: DatabaseLocation): SqlDialectName {
  const expected = 'a postgres:// or mysql:// URL, an SQLite file, or ":memory:"'
  if (typeof db !== 'string' || db.trim() === '') throw new TypeError(`db must be ${expected}`)

  const kind = serverKind(db)
  if (isOtherUrl(db)) {
    const scheme = /^[a-z][a-z0-9+.-]+:(?:\/\/)?/i.exec(db)?.[0] ?? 'a URL'
    throw new TypeError(`db: ${scheme} is not supported: give ${expected}`)
  }
  if (schema !== undefined && kind !== 'postgres') throw new TypeError('schema is for PostgreSQL: leave it out')
  return kind ?? 'sqlite'
}
