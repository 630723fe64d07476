import { hasMethods } from '../../../schema/arguments.ts'
import { isError } from '../../../schema/realms.ts'

/**
 * An open SQLite database, with the calls that the storage makes on it. Handles of better-sqlite3, node:sqlite and
 * bun:sqlite all have this shape. All of its calls are synchronous.
 */
export interface SqliteHandle {
  /** Prepares one statement, which can be run with its parameters any number of times. */
  prepare(sql: string): {
    /** Runs a statement that returns rows. */
    all(...parameters: unknown[]): unknown[]
    /** Runs a statement and returns its first row: undefined or null if no row was found. */
    get(...parameters: unknown[]): unknown
    /** Runs a statement that returns no rows. */
    run(...parameters: unknown[]): unknown
  }
  /** Runs statements without parameters. */
  exec(sql: string): unknown
}

export type PreparedStatement = ReturnType<SqliteHandle['prepare']>

/** How integers are returned, of rows and as the last rowid. */
type Integers = 'number' | 'bigint'

/** What each driver does in its own way, on one handle. */
export interface SqliteDriver {
  /** Returns whether a transaction is open. */
  isInTransaction(): boolean
  /** Prepares a statement whose integers are of this type, whatever the host has set for its handle. */
  prepare(sql: string, integers: Integers): PreparedStatement
  /** Rolls back while a statement is open on the handle, if the driver refuses what SQLite allows. */
  readonly rollbackForced?: () => void
  /** Frees a statement. A driver without it does so when the statement is no longer used. */
  readonly finalize?: (statement: PreparedStatement) => void
}

/** Returns the driver of a handle. */
export function driverOf(handle: SqliteHandle): SqliteDriver {
  if (isBetterSqlite3(handle)) return betterSqlite3(handle)
  return 'inTransaction' in handle ? bunSqlite(handle) : nodeSqlite(handle)
}

interface BetterSqlite3 extends SqliteHandle {
  readonly inTransaction: boolean
  unsafeMode(isUnsafe: boolean): unknown
}

function isBetterSqlite3(handle: SqliteHandle): handle is BetterSqlite3 {
  return hasMethods(handle, 'unsafeMode')
}

function betterSqlite3(handle: BetterSqlite3): SqliteDriver {
  return {
    isInTransaction: () => handle.inTransaction,
    prepare: (sql, integers) => prepared(handle, sql, integers, 'safeIntegers'),
    // The driver refuses every call while a statement is open, except in its unsafe mode.
    rollbackForced() {
      handle.unsafeMode(true)
      try {
        handle.exec('rollback')
      } finally {
        handle.unsafeMode(false)
      }
    },
  }
}

function nodeSqlite(handle: SqliteHandle): SqliteDriver {
  return {
    // Node 22.16 and newer say so, unless it is closed. An older one refuses a second BEGIN.
    isInTransaction() {
      try {
        if ('isTransaction' in handle) return handle.isTransaction === true
        handle.exec('begin; rollback')
        return false
      } catch (error) {
        return isInsideTransaction(error) // any other error is that of a handle that cannot be used
      }
    },
    // It throws if the last rowid, which may be an id of the host, is no safe integer.
    prepare: (sql, integers) => prepared(handle, sql, integers, 'setReadBigInts'),
  }
}

/** A handle of bun:sqlite stays open, and keeps its file, until each of its statements is finalized. */
function bunSqlite(handle: SqliteHandle & { readonly inTransaction: unknown }): SqliteDriver {
  return {
    isInTransaction() {
      try {
        return handle.inTransaction === true
      } catch {
        return false // it is closed
      }
    },
    prepare: (sql, integers) => prepared(handle, sql, integers, 'safeIntegers'),
    finalize(statement) {
      if (isFinalizable(statement)) statement.finalize()
    },
  }
}

/** Prepares a statement, and sets the type of its integers by a method of the driver. */
function prepared(
  handle: SqliteHandle,
  sql: string,
  integers: Integers,
  method: 'safeIntegers' | 'setReadBigInts',
): PreparedStatement {
  const statement = handle.prepare(sql)
  if (hasMethods(statement, method)) Reflect.apply(Reflect.get(statement, method), statement, [integers === 'bigint'])
  return statement
}

function isFinalizable(statement: PreparedStatement): statement is PreparedStatement & { finalize(): unknown } {
  return hasMethods(statement, 'finalize')
}

/** Returns whether a BEGIN was refused because a transaction is open. The text is SQLite's own; it has no code for it. */
export function isInsideTransaction(error: unknown): boolean {
  return isError(error) && error.message.includes('within a transaction')
}
