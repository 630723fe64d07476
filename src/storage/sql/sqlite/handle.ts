import { saysFinalized, translateError } from './errors.ts'

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

/** A statement of a handle. */
export type PreparedStatement = ReturnType<SqliteHandle['prepare']>

/** A handle that the storage opened, and closes. */
export interface OwnHandle extends SqliteHandle {
  close(): unknown
}

/** Returns whether a value is a handle. */
export function isHandle(value: unknown): value is SqliteHandle {
  if (typeof value !== 'object' || value === null) return false
  return (
    'prepare' in value && typeof value.prepare === 'function' && 'exec' in value && typeof value.exec === 'function'
  )
}

/** Returns whether a value is a handle that can be closed. */
export function isOwnHandle(value: unknown): value is OwnHandle {
  return isHandle(value) && 'close' in value && typeof value.close === 'function'
}

/**
 * Returns the file that a handle is open on, as SQLite names it; `''` for a database in memory or a temporary one.
 *
 * @throws TypeError if the handle returns rows in an unknown shape; ForgeError `STORAGE_UNAVAILABLE` if it is closed
 */
export function fileOf(handle: SqliteHandle): string {
  for (const row of databasesOf(handle)) {
    if (typeof row !== 'object' || row === null || !('name' in row) || !('file' in row)) continue
    if (row.name === 'main' && row.file === null) return ''
    if (row.name === 'main' && typeof row.file === 'string') return row.file
  }
  throw new TypeError('the handle must return rows as objects by column name: the name of its file cannot be read')
}

function databasesOf(handle: SqliteHandle): readonly unknown[] {
  try {
    return new PreparedStatements(handle, 'host').use('pragma database_list', (statement) => statement.all())
  } catch (error) {
    throw translateError(error, 'call')
  }
}

/** Returns a handle that the storage opened, with the type of the host's handle. */
export function asHosts<H extends SqliteHandle>(handle: OwnHandle): H {
  const ours: SqliteHandle = handle
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host's constructor, or by better-sqlite3
  return ours as H
}

/** The number of statements kept for each handle. The audit view has statements of many shapes. */
const MEMO_SIZE = 200

/**
 * The statements of one handle, prepared once and reused. In bun:sqlite a handle stays open, and keeps its file, until
 * each of its statements is finalized. Our statements are finalized when the connection ends; on the host's handle none
 * is kept.
 */
export class PreparedStatements {
  readonly #handle: SqliteHandle
  readonly #owner: 'us' | 'host'
  readonly #kept = new Map<string, PreparedStatement>()

  /** @param owner - who closes the handle */
  constructor(handle: SqliteHandle, owner: 'us' | 'host') {
    this.#handle = handle
    this.#owner = owner
  }

  /** Runs work with a prepared statement. */
  use<T>(sql: string, work: (statement: PreparedStatement) => T): T {
    const kept = this.#kept.get(sql)
    if (kept === undefined) return this.#useNew(sql, work)
    try {
      return work(kept)
    } catch (error) {
      if (!saysFinalized(error)) throw error
    }

    this.#kept.clear() // the host closed its handle, which finalized them, and may have opened it again
    return this.#useNew(sql, work)
  }

  /** Finalizes every statement. */
  end(): void {
    for (const statement of this.#kept.values()) finalize(statement)
    this.#kept.clear()
  }

  #useNew<T>(sql: string, work: (statement: PreparedStatement) => T): T {
    const statement = this.#handle.prepare(sql)
    if (this.#owner === 'us' || !isFinalizable(statement)) {
      this.#keep(sql, statement)
      return work(statement)
    }
    try {
      return work(statement)
    } finally {
      finalize(statement)
    }
  }

  #keep(sql: string, statement: PreparedStatement): void {
    const [oldest] = this.#kept
    if (oldest !== undefined && this.#kept.size >= MEMO_SIZE) {
      this.#kept.delete(oldest[0])
      finalize(oldest[1])
    }
    this.#kept.set(sql, statement)
  }
}

function isFinalizable(statement: PreparedStatement): statement is PreparedStatement & { finalize(): unknown } {
  return 'finalize' in statement && typeof statement.finalize === 'function'
}

function finalize(statement: PreparedStatement): void {
  if (isFinalizable(statement)) statement.finalize()
}
