import { closedError, isForgeError } from '../../../schema/errors.ts'
import { isError } from '../../../schema/realms.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { runSync, wait } from '../../../schema/sync-or-async.ts'
import { command } from '../dialect.ts'
import type { Retry } from '../errors.ts'
import { busy, unavailable } from '../errors.ts'
import type { SqlValue, Statement } from '../query.ts'
import { rowOf, rowsOf } from '../query.ts'
import type { Session } from '../session.ts'
import type { PreparedStatement, SqliteDriver, SqliteHandle } from './drivers.ts'
import { driverOf, isInsideTransaction } from './drivers.ts'

/** The number of statements kept for each handle. The audit view has statements of many shapes. */
const MAX_KEPT = 200

/**
 * One handle as a session. Every call is synchronous, and statements are prepared once. Where a driver has
 * statements finalized, none is kept on a handle of the host.
 */
export class Connection<H extends SqliteHandle = SqliteHandle> implements Session {
  /** The handle. Of the writer, it is the transaction that the host's `beforeCommit` receives. */
  readonly handle: H
  readonly #driver: SqliteDriver
  readonly #retry: Retry
  readonly #closeHandle: (() => unknown) | undefined
  readonly #kept = new Map<string, PreparedStatement>()

  /**
   * @param retry - what the caller must run again if the database is busy
   * @param closeHandle - closes a handle of our own
   */
  constructor(handle: H, retry: Retry, closeHandle?: () => unknown) {
    this.handle = handle
    this.#driver = driverOf(handle)
    this.#retry = retry
    this.#closeHandle = closeHandle
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
  runHostCode<T>(work: () => MaybePromise<T>): MaybePromise<T> {
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
      this.handle.exec(sql)
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  /** Returns whether a transaction is open on the handle. */
  isInTransaction(): boolean {
    return this.#driver.isInTransaction()
  }

  /** Ends the open transaction, also if the host has a statement open on the handle. */
  rollback(): void {
    try {
      this.handle.exec('rollback')
    } catch (error) {
      const { rollbackForced } = this.#driver
      if (rollbackForced === undefined || !isOccupied(error)) throw error
      rollbackForced()
    }
  }

  /** Finalizes the statements, and closes the handle if it is ours. */
  close(): void {
    this.#forget()
    this.#closeHandle?.()
  }

  #forget(): void {
    for (const statement of this.#kept.values()) this.#driver.finalize?.(statement)
    this.#kept.clear()
  }

  #release(savepoint: string): void {
    try {
      this.command(`release ${savepoint}`)
    } catch (error) {
      if (isForgeError(error) && !isClosed(error.cause)) throw error
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
    const driver = this.#driver
    const statement = driver.prepare(sql, returnsRows ? 'number' : 'bigint')
    if (this.#closeHandle !== undefined || driver.finalize === undefined) {
      if (this.#kept.size >= MAX_KEPT) this.#forget()
      this.#kept.set(sql, statement)
      return work(statement)
    }
    try {
      return work(statement)
    } finally {
      driver.finalize(statement)
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

/** The message for a file whose pages contradict each other. */
export const DAMAGED = 'the database is damaged'

/** The message for a file that SQLite cannot read as a database. */
export const NO_DATABASE = 'the file is not an SQLite database'

/**
 * The result codes of SQLite that mean something to a caller: why the database cannot be used, or without a message that it
 * is busy. Any other code is a fault. Source: https://www.sqlite.org/rescode.html
 */
const MEANINGS: readonly (readonly [number: number, name: string, message?: string])[] = [
  [5, 'BUSY'],
  [6, 'LOCKED'],
  [8, 'READONLY', 'the database cannot be written'],
  [10, 'IOERR', 'the disk failed to read or write the database'],
  [11, 'CORRUPT', DAMAGED],
  [13, 'FULL', 'the disk is full'],
  [14, 'CANTOPEN', 'the database file cannot be opened'],
  [15, 'PROTOCOL'],
  [26, 'NOTADB', NO_DATABASE],
]

/**
 * Returns the error to throw for an error of the driver, with that error as cause: `STORAGE_BUSY`,
 * `STORAGE_UNAVAILABLE`, or TypeError if the host left a statement open. Any other error is a fault and is returned
 * unchanged. Messages contain neither SQL nor paths.
 */
export function translateError(error: unknown, retry: Retry): unknown {
  if (isClosed(error)) return closedError('the handle is closed', error)
  if (isOccupied(error)) {
    return new TypeError('the handle is busy with another statement: finish it first', { cause: error })
  }
  if (isInsideTransaction(error)) return busy(retry, error)
  const meaning = meaningOf(error)
  if (meaning === undefined) return error
  const [, , message] = meaning
  return message === undefined ? busy(retry, error) : unavailable(message, error)
}

/** Thrown when work failed in a transaction and could not be rolled back alone. The cause is the error of the work. */
export class NotUndone extends Error {
  override readonly name = 'NotUndone'

  /** @param cause - the error of the work */
  constructor(cause: unknown) {
    super('a change failed and could not be rolled back to its savepoint', { cause })
  }
}

/**
 * Returns whether a call was refused because the handle is closed. The texts are those of better-sqlite3, node:sqlite
 * and bun:sqlite; closing a handle of node:sqlite finalizes its statements.
 */
function isClosed(error: unknown): boolean {
  return (
    isError(error) &&
    /database (connection )?is not open|closed database|database has closed|statement has been finalized/i.test(
      error.message,
    )
  )
}

/**
 * Returns whether a call was refused because a statement is open on the handle. better-sqlite3 then refuses every call.
 * SQLite itself refuses savepoints and a COMMIT while rows are being written, with the code of a busy database.
 */
export function isOccupied(error: unknown): boolean {
  return isError(error) && /busy executing a query|SQL statements in progress/.test(error.message)
}

/**
 * Returns what the primary result code of an error means. Drivers give the code as text or as a number, a Durable Object
 * at the end of its message.
 */
function meaningOf(error: unknown): (typeof MEANINGS)[number] | undefined {
  if (!isError(error)) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') {
    const primary = error.errcode & 0xff
    return MEANINGS.find(([number]) => number === primary)
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const [, found] = /^SQLITE_([A-Z]+)/.exec(code) ?? /: SQLITE_([A-Z]+)/.exec(error.message) ?? []
  return MEANINGS.find(([, name]) => name === found)
}
