import type { Stats } from 'node:fs'
import { statSync } from 'node:fs'
import type { Forge } from '../../index.ts'
import { ForgeError, isForgeError } from '../../index.ts'
import { runSync } from '../../schema/sync-or-async.ts'
import type { SqlContext } from '../../storage/sql/context.ts'
import { createSqlContext } from '../../storage/sql/context.ts'
import { sqliteDialect } from '../../storage/sql/dialects/sqlite.ts'
import { unavailable } from '../../storage/sql/errors.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { Schema } from '../../storage/sql/schema/schema.ts'
import type { RowsOfEach, Statements } from '../../storage/sql/session.ts'
import { Connection } from '../../storage/sql/sqlite/connection.ts'
import type { SqliteConnection } from '../../storage/sqlite.ts'
import { openSqlite, sqliteStorage } from '../../storage/sqlite.ts'
import type { ForgeStorage, SchemaStatus } from '../../storage/storage.ts'
import type { HostDatabase, Loading } from './host-database.ts'
import { HostSchema } from './host-schema.ts'
import type { StandaloneUser } from './roles.ts'
import type { HostContext } from './tables.ts'
import { hostContext } from './tables.ts'

/** How long a statement waits for another process while the host starts, in milliseconds. */
const PATIENCE_AT_START = 5000

/** The same once it has started: then it only reads, and must not block the event loop. */
const PATIENCE = 50

/** A database in a file, or in memory, on one handle. Every call is synchronous. */
export class SqliteHostDatabase implements HostDatabase<SqliteConnection> {
  readonly context: HostContext
  readonly storage: ForgeStorage<SqliteConnection>
  readonly #handle: SqliteConnection
  readonly #connection: Connection
  readonly #schema: HostSchema
  readonly #forgeSchema: Schema
  /** The connections of handles on which the storage has a transaction open. */
  readonly #transactions = new WeakMap<SqliteConnection, Connection>()

  /** @param forge - the context of the forge's tables */
  constructor(handle: SqliteConnection, forge: SqlContext) {
    this.context = hostContext(forge)
    this.storage = sqliteStorage(handle, { prefix: forge.prefix })
    this.#handle = handle
    this.#connection = new Connection(handle, 'call', 'us')
    this.#schema = new HostSchema(this.context, forge, 'file')
    this.#forgeSchema = new Schema(forge)
  }

  rows<Row>(statement: Statement<Row>, transaction?: SqliteConnection | undefined): readonly Row[] {
    return this.#on(transaction).all(statement)
  }

  rowsOfEach<Rows extends readonly unknown[]>(
    statements: Statements<Rows>,
    transaction?: SqliteConnection | undefined,
  ): RowsOfEach<Rows> {
    const rows: unknown = this.#on(transaction).batch(statements)
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row types were inferred from the queries
    return rows as RowsOfEach<Rows>
  }

  async migrate(): Promise<void> {
    await asUsable(async () => {
      runSync(this.#schema.refuseUnusable(this.#connection))
      const needed = runSync(this.#schema.needsMigration(this.#connection))
      if (needed) this.#inTransaction(() => runSync(this.#schema.complete(this.#connection)))
      await this.storage.migrate()
      this.#handle.exec(`pragma busy_timeout = ${PATIENCE}`)
    })
  }

  async check(): Promise<void> {
    await asUsable(async () => {
      runSync(this.#schema.refuseOutdated(this.#connection))
      runSync(this.#forgeSchema.refuseUnusable(this.#connection))
    })
  }

  async state(): Promise<SchemaStatus['state']> {
    return asUsable(async () => runSync(this.#schema.state(this.#connection)))
  }

  async load(forge: Forge<StandaloneUser, SqliteConnection>, steps: Loading): Promise<boolean> {
    return asUsable(async () => {
      this.#handle.exec(`pragma busy_timeout = ${PATIENCE_AT_START}`)
      const work = (): boolean =>
        forge.withTransactionSync(this.#handle, (services) => runSync(steps(this.#connection, services))).value
      try {
        return this.#inTransaction(work)
      } finally {
        this.#handle.exec(`pragma busy_timeout = ${PATIENCE}`)
      }
    })
  }

  close(): void {
    this.#connection.end()
    this.#handle.close()
  }

  /** On a file the storage writes on a handle of its own. */
  #on(transaction: SqliteConnection | undefined): Connection {
    if (transaction === undefined || transaction === this.#handle) return this.#connection

    const known = this.#transactions.get(transaction)
    if (known !== undefined) return known
    const connection = new Connection(transaction, 'call', 'host')
    this.#transactions.set(transaction, connection)
    return connection
  }

  #inTransaction<T>(work: () => T): T {
    this.#handle.exec('begin immediate')
    try {
      const value = work()
      this.#handle.exec('commit')
      return value
    } catch (error) {
      if (this.#handle.inTransaction) this.#handle.exec('rollback')
      throw error
    }
  }
}

/**
 * Opens the host's database: a file, or `:memory:`.
 *
 * @param prefix - of the names of the forge's tables; undefined for the usual one
 * @throws TypeError if the prefix is invalid; ForgeError `STORAGE_UNAVAILABLE` if no driver is usable, or if the file cannot be opened or is not a database
 */
export async function openSqliteDatabase(file: string, prefix: string | undefined): Promise<SqliteHostDatabase> {
  const forge = createSqlContext(sqliteDialect, { prefix })
  refuseUnusual(file)
  return asUsable(async () => {
    const handle = openSqlite(file)
    try {
      handle.exec(`pragma foreign_keys = on; pragma synchronous = full; pragma busy_timeout = ${PATIENCE_AT_START}`)
      handle.prepare('select count(*) as tables from sqlite_master').all()
      return new SqliteHostDatabase(handle, forge)
    } catch (error) {
      handle.close()
      throw error
    }
  })
}

/** Refuses a path that is not a regular file. SQLite would wait for a pipe, and write into a device. */
function refuseUnusual(file: string): void {
  const stats = statsOf(file)
  if (stats?.isDirectory()) throw unavailable('it is a directory: name a file in it')
  if (stats !== undefined && !stats.isFile()) throw unavailable('it is a pipe or a device: name an ordinary file')
}

/**
 * Returns undefined if the file is missing, or if it cannot be inspected; in the latter case the driver reports the
 * reason.
 */
function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}

/**
 * Runs work on a database. Converts an error of the driver to a ForgeError whose message contains neither the file nor
 * the statement.
 * @throws ForgeError `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
 */
async function asUsable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storageError(error) ?? error
  }
}

/**
 * Converts an error of an SQLite driver to a ForgeError that names the fix, including errors that the driver threw to
 * the storage. Returns undefined for any other error.
 */
function storageError(thrown: unknown): ForgeError | undefined {
  const isTranslated = isForgeError(thrown, 'STORAGE_UNAVAILABLE') || isForgeError(thrown, 'STORAGE_BUSY')
  const error = isTranslated ? thrown.cause : thrown
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new ForgeError('STORAGE_BUSY', 'another process has locked it', { retry: 'call' }, { cause: error })
  }

  const text = `${code} ${error.message}`
  const [, reason] = FAILURES.find(([pattern]) => pattern.test(text)) ?? []
  if (reason !== undefined) return unavailable(reason, error)
  return code.startsWith('SQLITE_') ? unavailable(`the database failed: ${error.message}`, error) : undefined
}

const FAILURES: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^SQLITE_NOTADB/, 'it is not an SQLite database: name another file'],
  [/^SQLITE_CORRUPT/, 'it is damaged: restore a copy, or name another file'],
  [/^SQLITE_CANTOPEN/, 'it cannot be opened: name a file that can be read and written'],
  [/^SQLITE_READONLY/, 'it cannot be written: change its permissions, or name another file'],
  [/^SQLITE_FULL/, 'the disk is full: free some space'],
  [/directory does not exist/, 'its directory does not exist: create it, or name another file'],
]
