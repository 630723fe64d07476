import { need } from '../schema/arguments.ts'
import type { SqlStorageOptions } from './sql/context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from './sql/context.ts'
import type { SqlStorage } from './sql/database.ts'
import { sqlDatabase } from './sql/database.ts'
import { sqliteDialect } from './sql/dialects/sqlite.ts'
import type { HostPortsOf, HostTables } from './sql/host/tables.ts'
import { planSchema, Schema } from './sql/schema/schema.ts'
import type { SqliteStorageOptions } from './sql/sqlite/database.ts'
import { SqliteDatabase } from './sql/sqlite/database.ts'
import type { SqliteHandle } from './sql/sqlite/drivers.ts'
import type { FileCheck } from './sql/sqlite/file-problems.ts'
import { fileProblems } from './sql/sqlite/file-problems.ts'
import type { SqliteConnection } from './sql/sqlite/handle.ts'
import { openWithBetterSqlite3 } from './sql/sqlite/handle.ts'
import { SqliteRuntime } from './sql/sqlite/sqlite-runtime.ts'
import { createSqlStores } from './sql/stores/stores.ts'

export type { SqlStorageOptions } from './sql/context.ts'
export type { IdColumn } from './sql/dialect.ts'
export type { IdColumns } from './sql/ids.ts'
export type { SqliteStorageOptions } from './sql/sqlite/database.ts'
export type { SqliteHandle } from './sql/sqlite/drivers.ts'
export type { FileCheck } from './sql/sqlite/file-problems.ts'
export type { SqliteConnection } from './sql/sqlite/handle.ts'

/**
 * A storage in an SQLite database. Every acknowledged change is durable (`synchronous = FULL`).
 *
 * For a file name, or for a handle that is open on a file, the storage opens its own writer and its own reader: with the
 * handle's constructor, or by the option `open`, for a handle with a key, a `nativeBinding` or another constructor. At
 * first use it checks that they read the database of the handle. It uses the handle itself only in `withTransactionSync`,
 * so a read-only handle does not prevent other calls; and to write the first page of an empty file, in `migrate()`. A file name denotes the same file even if the process changes its directory. The umask of the process
 * decides who may read a file that is created. A database in memory has a single connection: a plain call while the
 * handle is inside a transaction is a `TypeError`, and so is a plain change on any handle. The storage opens nothing
 * before the first use. Only `migrate()` creates tables.
 *
 * The `beforeCommit` of the host runs inside the transaction of a whole batch. It must leave that transaction open, and
 * must end every statement that it began there (iterators too); otherwise the batch is refused, or the changes after it
 * wait for five seconds. If it violates a deferred constraint of the host, the COMMIT fails with the driver's error, and
 * so does every change of the batch. Inside `withTransactionSync`, a failed change that could not be rolled back is a
 * `TypeError`: roll the transaction back.
 *
 * Two forges in one database need two prefixes that never produce the same name: `x_` and `x_board_` would
 * (`x_board_pins`), and the second is not migrated.
 *
 * @param fileOrHandle - a file (opened with the better-sqlite3 installed beside the application), `:memory:`, or an
 * open handle of better-sqlite3 8 to 13, of node:sqlite (Node 22.13 and newer, Deno) or of bun:sqlite (Bun 1.4); the
 * handle must return rows as objects
 * @throws TypeError if an option is invalid or the file name is empty; on first use if the handle is not of one of these
 * drivers, has `locking_mode = exclusive`, or the storage cannot open another one on its database. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`, `SCHEMA_TOO_NEW`, `STORAGE_BUSY`
 * if others kept the file locked for five seconds, `STORAGE_UNAVAILABLE` (its outcome is `unknown` if a `beforeCommit`
 * ended the transaction of its batch); TypeError if an id does not fit its column
 */
export function sqliteStorage<H extends SqliteHandle, T extends HostTables>(
  fileOrHandle: string | H,
  options: SqliteStorageOptions<H> & { readonly tables: T },
): SqlStorage<H> & { readonly host: HostPortsOf<H, T> }
/** The same without tables of the host. */
export function sqliteStorage<H extends SqliteHandle = SqliteHandle>(
  fileOrHandle: string | H,
  options?: SqliteStorageOptions<H>,
): SqlStorage<H>
export function sqliteStorage<H extends SqliteHandle>(
  fileOrHandle: string | H,
  options: SqliteStorageOptions<H> = {},
): SqlStorage<H> {
  checkStorageOptions('sqliteStorage', options, { ...SQL_OPTIONS, open: true })
  const { open } = options
  const isFitting = open === undefined || (typeof open === 'function' && typeof fileOrHandle !== 'string')
  need(isFitting, 'sqliteStorage', 'open', 'a function (file) => handle, beside a handle')
  const context = createSqlContext(sqliteDialect, options)
  const schema = new Schema(context)
  const database = new SqliteDatabase<H>(fileOrHandle, schema, open)
  const runtime = new SqliteRuntime(database, context.prefix)

  return {
    ...createSqlStores(context, runtime),
    database: sqlDatabase(context, runtime),
    transactions: 'synchronous',
    checkTransaction: (transaction) => runtime.checkTransaction(transaction),
    migrate: () => runtime.migrate(schema),
    schemaStatus: async () => runtime.retried(() => database.status()),
    close: () => runtime.close(),
  }
}

/**
 * Returns the SQL statements that `migrate()` would run, in order, for administrators who create tables by hand. Each
 * statement is separate and has no semicolon. Needs no connection, no file and no driver.
 *
 * @throws TypeError if an option is invalid
 */
export function sqliteSchemaPlan(options: SqlStorageOptions = {}): readonly string[] {
  return planSchema('sqliteSchemaPlan', sqliteDialect, options, SQL_OPTIONS)
}

/**
 * Opens an SQLite file, or `:memory:`, with the better-sqlite3 installed beside the application. The driver is loaded
 * by this call and not before. Use it in a host that writes beside the forge and wants to report what is wrong with the
 * driver. The umask of the process decides who may read a file that it creates. The name is never read as a URI.
 *
 * @throws TypeError if the file is not a string; ForgeError `STORAGE_UNAVAILABLE`, whose message says what to install
 * or rebuild, or that the file cannot be opened
 */
export function openSqlite(file: string): SqliteConnection {
  need(typeof file === 'string' && file !== '', 'openSqlite', 'file', "the name of a file, or ':memory:'")
  return openWithBetterSqlite3(file)
}

/**
 * Returns what is wrong with an SQLite file, as sentences: damaged pages, rows that refer to missing rows, and why it takes no
 * changes. Reads all of it, and changes nothing. For a doctor of the host.
 *
 * @param file - one that exists, opened with the better-sqlite3 installed beside the application
 * @param check - `integrity_check` compares each index with its table too, and takes longer. Default: `quick_check`
 * @throws ForgeError `STORAGE_UNAVAILABLE` if it cannot be opened, `STORAGE_BUSY` if another process has locked it
 */
export async function sqliteFileProblems(file: string, check: FileCheck = 'quick_check'): Promise<readonly string[]> {
  need(typeof file === 'string' && file !== '', 'sqliteFileProblems', 'file', 'the name of a file')
  return fileProblems(file, check)
}
