import type { ForgeStorage } from './contract/forge-storage.ts'
import type { SqlStorageOptions } from './sql/sql-context.ts'
import type { SqliteHandle } from './sql/sqlite/handle.ts'
import { createSqliteStorage } from './sql/sqlite/sqlite-storage.ts'

export type { IdColumn, IdColumns } from './sql/id-columns.ts'
export type { SqlStorageOptions } from './sql/sql-context.ts'
export type { SqliteHandle } from './sql/sqlite/handle.ts'

/**
 * A storage in an SQLite database; every answered change is durable (`synchronous = FULL`).
 *
 * Of a file name, or of a handle that is open on a file, the storage opens a writer and a reader of its own; the handle
 * itself is used in `joinSync` only. A database in memory has the one connection: there a plain call while the handle is
 * inside a transaction is a `TypeError`, and so is a plain change on any handle. Nothing is opened before the first use,
 * and tables are made by `migrate()` alone.
 *
 * @param fileOrHandle - a file (opened with the better-sqlite3 beside the application), `:memory:`, or an open handle of
 * better-sqlite3, node:sqlite or bun:sqlite
 * @throws TypeError for an option that is none. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`, `SCHEMA_TOO_NEW`,
 * `STORAGE_BUSY` when others kept the file locked for five seconds, `STORAGE_UNAVAILABLE`; TypeError for an id that does
 * not fit its column
 */
export function sqliteStorage<H extends SqliteHandle = SqliteHandle>(
  fileOrHandle: string | H,
  options: SqlStorageOptions = {},
): ForgeStorage<H> {
  return createSqliteStorage(fileOrHandle, options)
}
