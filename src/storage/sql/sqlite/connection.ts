import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { runSync, wait } from '../../../schema/sync-or-async.ts'
import { command } from '../dialect.ts'
import type { Retry } from '../errors.ts'
import type { SqlValue, Statement } from '../query.ts'
import { rowOf, rowsOf } from '../query.ts'
import type { Session } from '../session.ts'
import { NotUndone, saysClosed, translateError } from './errors.ts'

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

type PreparedStatement = ReturnType<SqliteHandle['prepare']>

/** The number of statements kept for each handle. The audit view has statements of many shapes. */
const MAX_KEPT = 200

/**
 * One handle as a session. Every call is synchronous, and statements are prepared once. In bun:sqlite a handle stays
 * open, and keeps its file, until each of its statements is finalized: there none is kept on a handle of the host.
 */
export class Connection implements Session {
  readonly #handle: SqliteHandle
  readonly #retry: Retry
  readonly #owner: 'us' | 'host'
  readonly #kept = new Map<string, PreparedStatement>()

  /**
   * @param retry - what the caller must run again if the database is busy
   * @param owner - who closes the handle
   */
  constructor(handle: SqliteHandle, retry: Retry, owner: 'us' | 'host') {
    this.#handle = handle
    this.#retry = retry
    this.#owner = owner
  }

  all<Row>(statement: Statement<Row>): readonly Row[] {
    const { parameters, returnsRows } = statement
    if (returnsRows) return this.#use(statement, (prepared) => rowsOf(getRows(prepared, parameters)))

    this.#use(statement, (prepared) => prepared.run(...parameters))
    return []
  }

  first<Row>(statement: Statement<Row>): Row | undefined {
    return this.#use(statement, (prepared) => rowOf(getRow(prepared, statement.parameters)))
  }

  batch(statements: readonly Statement<unknown>[]): readonly (readonly unknown[])[] {
    return statements.map((statement) => this.all(statement))
  }

  /**
   * Runs the host's code in the middle of work, which goes on behind it: in the same transaction, or not at all.
   * @throws TypeError if the code returned a promise, left the transaction, or left a statement open that was writing
   */
  lend<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    this.command('savepoint forgelet_lent')
    const value = runSync(wait(work()))
    this.#release('forgelet_lent')
    return value
  }

  /**
   * Runs work in the open transaction, all or nothing: a failure leaves the rest of the transaction unchanged.
   * @throws NotUndone if the work failed and could not be rolled back
   */
  atomically<T>(work: () => T): T {
    this.command('savepoint forgelet')
    try {
      const value = work()
      this.#release('forgelet')
      return value
    } catch (error) {
      this.#undo(error)
      throw error
    }
  }

  /** Runs a statement without parameters for its effect. */
  command(sql: string): void {
    this.all(command(sql))
  }

  /** Runs a text of statements that may not be prepared, or whose rows are not needed. */
  exec(sql: string): void {
    try {
      this.#handle.exec(sql)
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  /** Finalizes the statements, so that the handle can be closed. */
  end(): void {
    for (const statement of this.#kept.values()) finalize(statement)
    this.#kept.clear()
  }

  #release(savepoint: string): void {
    try {
      this.command(`release ${savepoint}`)
    } catch (error) {
      if (isForgeError(error) && !saysClosed(error.cause)) throw error
      const message = 'beforeCommit must leave its transaction open and without an unfinished statement'
      throw new TypeError(message, { cause: error })
    }
  }

  #undo(cause: unknown): void {
    try {
      this.command('rollback to forgelet')
      this.command('release forgelet')
    } catch {
      throw new NotUndone(cause)
    }
  }

  #use<T>(statement: Statement<unknown>, work: (prepared: PreparedStatement) => T): T {
    try {
      const kept = this.#kept.get(statement.sql)
      return kept === undefined ? this.#useNew(statement, work) : work(kept)
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  #useNew<T>({ sql, returnsRows }: Statement<unknown>, work: (prepared: PreparedStatement) => T): T {
    const statement = this.#handle.prepare(sql)
    setIntegers(statement, returnsRows ? 'number' : 'bigint')
    if (this.#owner === 'us' || !isFinalizable(statement)) {
      if (this.#kept.size >= MAX_KEPT) this.end()
      this.#kept.set(sql, statement)
      return work(statement)
    }
    try {
      return work(statement)
    } finally {
      finalize(statement)
    }
  }
}

// Most reads find rows by a key of two values. Passing them one by one saves a twelfth of the read: a spread is slow.
function getRow(statement: PreparedStatement, parameters: readonly SqlValue[]): unknown {
  return parameters.length === 2 ? statement.get(parameters[0], parameters[1]) : statement.get(...parameters)
}

function getRows(statement: PreparedStatement, parameters: readonly SqlValue[]): readonly unknown[] {
  return parameters.length === 2 ? statement.all(parameters[0], parameters[1]) : statement.all(...parameters)
}

/**
 * Sets how a driver returns integers. In rows ours are numbers, whatever the host has set for its handle. For a statement
 * without rows the driver returns the last rowid, which may be an id of the host: node:sqlite throws if it is no safe integer.
 */
function setIntegers(statement: PreparedStatement, type: 'number' | 'bigint'): void {
  const isBigint = type === 'bigint'
  if ('setReadBigInts' in statement && typeof statement.setReadBigInts === 'function')
    statement.setReadBigInts(isBigint)
  if ('safeIntegers' in statement && typeof statement.safeIntegers === 'function') statement.safeIntegers(isBigint)
}

function isFinalizable(statement: PreparedStatement): statement is PreparedStatement & { finalize(): unknown } {
  return 'finalize' in statement && typeof statement.finalize === 'function'
}

function finalize(statement: PreparedStatement): void {
  if (isFinalizable(statement)) statement.finalize()
}
