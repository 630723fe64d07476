import { need } from '../schema/arguments.ts'
import type { ForgeStorage } from './contract/storage.ts'
import type { SqlStorageOptions } from './sql/context.ts'
import { sqliteDialect } from './sql/dialects/sqlite.ts'
import type { SchemaPlanOptions } from './sql/schema/schema.ts'
import { planSchema } from './sql/schema/schema.ts'
import type { SqliteConnection } from './sql/sqlite/better-sqlite3.ts'
import { openWithBetterSqlite3 } from './sql/sqlite/better-sqlite3.ts'
import type { SqliteHandle } from './sql/sqlite/handle.ts'
import { createSqliteStorage } from './sql/sqlite/sqlite-storage.ts'

export type { SqlStorageOptions } from './sql/context.ts'
export type { IdColumn, IdColumns } from './sql/ids.ts'
export type { SchemaPlanOptions } from './sql/schema/schema.ts'
export type { SqliteConnection } from './sql/sqlite/better-sqlite3.ts'
export type { SqliteHandle } from './sql/sqlite/handle.ts'

/**
 * A storage in an SQLite database; every answered change is durable (`synchronous = FULL`).
 *
 * Of a file name, or of a handle that is open on a file, the storage opens a writer and a reader of its own, with the
 * handle's constructor; the handle itself is used in `joinSync` only, so one that may only read stops nothing else. A file
 * name is one file wherever the process goes; it is created readable and writable by its owner only. A database in memory has the one connection: there a plain call while the
 * handle is inside a transaction is a `TypeError`, and so is a plain change on any handle. Nothing is opened before the
 * first use, and tables are made by `migrate()` alone.
 *
 * What a host must know of its `beforeCommit`: it runs inside the transaction of a whole batch. It leaves that open, and
 * ends every statement it began there (an iterator too); else the batch is refused (where only rows were being read, by
 * better-sqlite3 alone). A deferred constraint of the host's that it breaks fails the COMMIT, and so every change of the
 * batch, with the driver's error. In a join, a change that failed and could not be taken back is a `TypeError`, and so is
 * whatever follows on that handle: roll the transaction back.
 *
 * Two forges in one database need two prefixes that give no name twice: `x_` and `x_board_` would (`x_board_pins`), and
 * the second is not migrated.
 *
 * @param fileOrHandle - a file (opened with the better-sqlite3 beside the application), `:memory:`, or an open handle of
 * better-sqlite3 12 or 13, of node:sqlite (Node 22.13 and newer, Deno) or of bun:sqlite (Bun 1.4); rows come as objects there
 * @throws TypeError for an option that is none, or an empty file name; at the first use for a handle whose constructor
 * opens another database. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`, `SCHEMA_TOO_NEW`, `STORAGE_BUSY`
 * when others kept the file locked for five seconds, `STORAGE_UNAVAILABLE` (its outcome is `unknown` where a
 * `beforeCommit` ended the transaction of its batch); TypeError for an id that does not fit its column
 */
export function sqliteStorage<H extends SqliteHandle = SqliteHandle>(
  fileOrHandle: string | H,
  options: SqlStorageOptions = {},
): ForgeStorage<H> {
  return createSqliteStorage(fileOrHandle, options)
}

/**
 * The SQL statements that `migrate()` would run, in order, for those who make tables by hand: each on its own, without the
 * semicolon. Needs no connection, no file and no driver.
 *
 * @throws TypeError for an option that is none
 */
export function sqliteSchemaPlan(options: SchemaPlanOptions = {}): readonly string[] {
  return planSchema(sqliteDialect, options)
}

/**
 * Opens an SQLite file, or `:memory:`, with the better-sqlite3 beside the application, which is loaded here and not
 * before: for a host that writes beside the forge, and would tell people what is wrong with the driver. A file that it
 * creates is readable and writable by its owner only (mode 0600).
 *
 * @throws TypeError when the file is not a text; ForgeError `STORAGE_UNAVAILABLE`, whose message says what to install or rebuild, or that the file cannot be opened
 */
export function openSqlite(file: string): SqliteConnection {
  need(typeof file === 'string' && file !== '', 'openSqlite', 'file', "the name of a file, or ':memory:'")
  return openWithBetterSqlite3(file)
}
