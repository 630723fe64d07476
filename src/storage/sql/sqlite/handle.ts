import { PreparedStatements } from './connection.ts'
import { translateError } from './errors.ts'

/**
 * An open SQLite database, by the calls that are made on it: handles of better-sqlite3, node:sqlite and bun:sqlite all
 * have this shape. Everything on it answers at once.
 */
export interface SqliteHandle {
  /** One statement, to be run with its parameters as often as wanted. */
  prepare(sql: string): {
    /** Runs a statement that answers with rows. */
    all(...parameters: unknown[]): unknown[]
    /** Runs a statement that answers with none. */
    run(...parameters: unknown[]): unknown
  }
  /** Runs statements that have no parameters. */
  exec(sql: string): unknown
}

/** A statement of a handle. */
export type PreparedStatement = ReturnType<SqliteHandle['prepare']>

/** A handle that we opened, and close. */
export interface OwnHandle extends SqliteHandle {
  close(): unknown
}

/** Whether a value is a handle. */
export function isHandle(value: unknown): value is SqliteHandle {
  if (typeof value !== 'object' || value === null) return false
  return (
    'prepare' in value && typeof value.prepare === 'function' && 'exec' in value && typeof value.exec === 'function'
  )
}

/** Whether a value is a handle that can be closed. */
export function isOwnHandle(value: unknown): value is OwnHandle {
  return isHandle(value) && 'close' in value && typeof value.close === 'function'
}

/**
 * The file a handle is open on, as SQLite names it; `''` for a database in memory or a temporary one.
 *
 * @throws TypeError when the handle gives rows in a shape we do not know; ForgeError `STORAGE_UNAVAILABLE` when it is closed
 */
export function fileOf(handle: SqliteHandle): string {
  for (const row of databasesOf(handle)) {
    if (typeof row !== 'object' || row === null || !('name' in row) || !('file' in row)) continue
    if (row.name === 'main' && row.file === null) return ''
    if (row.name === 'main' && typeof row.file === 'string') return row.file
  }
  throw new TypeError('the handle must give rows as objects by column name: it does not tell which file it is open on')
}

function databasesOf(handle: SqliteHandle): readonly unknown[] {
  try {
    return new PreparedStatements(handle, 'host').use('pragma database_list', (statement) => statement.all())
  } catch (error) {
    throw translateError(error, 'call')
  }
}

/** A handle that we opened, as one of the host's. */
export function asHosts<H extends SqliteHandle>(handle: OwnHandle): H {
  const ours: SqliteHandle = handle
  return ours as H // made by the constructor of the host's handle; or by better-sqlite3, which H says when a file name was given
}
