import { isForgeError } from '../../../schema/errors.ts'
import { unavailable } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { saysClosed, saysInsideTransaction, saysNoSavepoint, saysOldSnapshot } from './errors.ts'
import type { SqliteHandle } from './handle.ts'

/**
 * What a failure left of the transaction in which it occurred. `kept`: only the failed work is rolled back. `ended`:
 * the transaction is gone, with everything done in it. `stuck`: the failed work could not be rolled back, and is still
 * in the transaction.
 */
export type Left = 'kept' | 'ended' | 'stuck'

/** The result of one piece of work inside a transaction. */
export type Ending<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown; readonly left: Left }

/**
 * Runs work inside the open transaction, all or nothing: a failure leaves the rest of the transaction unchanged.
 * @throws TypeError if the host left a statement open that was writing; then nothing is begun
 */
export function inSavepoint<T>(connection: Connection, work: () => T): Ending<T> {
  connection.command('savepoint forgelet')
  try {
    const value = work()
    connection.release('forgelet')
    return { ok: true, value }
  } catch (error) {
    return { ok: false, error, left: takeBack(connection) }
  }
}

/**
 * Runs work in its own transaction, which holds the write lock from the start. If anything fails, no transaction stays
 * open.
 */
export function inTransaction<T>(connections: Connections<SqliteHandle>, work: (writer: Connection) => T): T {
  const writer = begin(connections)
  try {
    const value = work(writer)
    writer.command('commit')
    return value
  } catch (error) {
    rollBack(connections)
    throw error
  }
}

/** Runs reads on one snapshot. */
export function inSnapshot<T>(connection: Connection, work: () => T): T {
  connection.command('begin')
  try {
    return work()
  } finally {
    connection.command('rollback')
  }
}

/** Returns whether a handle is inside a transaction. Nothing runs on it if its driver reports that. */
export function isInTransaction(handle: SqliteHandle): boolean {
  return reportedTransaction(handle) ?? transactionOn(handle) === 'open'
}

/** Drivers have two names for it. Those of Node and Bun throw if the handle is closed. */
function reportedTransaction(handle: SqliteHandle): boolean | undefined {
  try {
    if ('inTransaction' in handle && typeof handle.inTransaction === 'boolean') return handle.inTransaction
    if ('isTransaction' in handle && typeof handle.isTransaction === 'boolean') return handle.isTransaction
  } catch {
    // A BEGIN shows why.
  }
  return undefined
}

/**
 * Returns the state of a handle. Handles report it differently, but all refuse a second BEGIN. `unknown`: a statement is
 * open on it, and nothing else can run.
 */
export function transactionOn(handle: SqliteHandle): 'open' | 'none' | 'closed' | 'unknown' {
  try {
    handle.exec('begin')
  } catch (error) {
    if (saysInsideTransaction(error)) return 'open'
    return saysClosed(error) ? 'closed' : 'unknown'
  }
  handle.exec('rollback')
  return 'none'
}

/** Creates the error for the other changes of a batch if one change ended or blocked their shared transaction. */
export function lostTransaction(left: Left, cause: unknown): Error {
  if (left === 'stuck' || isForgeError(cause, 'STORAGE_UNAVAILABLE')) {
    return unavailable('the transaction was ended before it could be committed', cause)
  }
  const message = 'a beforeCommit ended its transaction: the outcome of its batch is unknown'
  return unavailable(message, cause, 'unknown')
}

/**
 * On a writer that only the storage uses, the only reasons that refuse a BEGIN are another writer or a left-over
 * transaction. A left-over is cleared.
 */
function begin(connections: Connections<SqliteHandle>): Connection {
  const { writer, writerHandle, shared } = connections
  try {
    writer.command('begin immediate')
    return writer
  } catch (error) {
    if (shared) throw error
    if (isForgeError(error, 'STORAGE_BUSY') && saysOldSnapshot(error.cause)) connections.replaceWriter()
    else if (transactionOn(writerHandle) === 'none') throw error
    else rollBack(connections)
  }

  const cleared = connections.writer
  cleared.command('begin immediate')
  return cleared
}

/** Ends any open transaction. A writer that can no longer be used is replaced. */
function rollBack(connections: Connections<SqliteHandle>): void {
  const { writer, writerHandle } = connections
  try {
    writer.command('rollback')
  } catch {
    // No transaction was open, because the failure had already ended it; or the host made the handle unusable.
    if (isSpoilt(writerHandle)) connections.replaceWriter()
    return
  }
  if (isStillWriting(writer)) connections.replaceWriter()
}

/**
 * Returns whether a statement of the host is still writing: it outlives its transaction, and refuses every later
 * savepoint.
 */
function isStillWriting(writer: Connection): boolean {
  try {
    writer.command('savepoint forgelet')
    writer.command('release forgelet')
    return false
  } catch {
    return true
  }
}

/**
 * A writer whose transaction could not be ended is kept: the transaction ends when the host has ended its statement.
 */
function isSpoilt(writer: SqliteHandle): boolean {
  const state = transactionOn(writer)
  if (state !== 'unknown') return state === 'closed'
  return execDespiteOpenStatements(writer, 'rollback') !== 'impossible'
}

function takeBack(connection: Connection): Left {
  try {
    connection.command('rollback to forgelet')
    connection.command('release forgelet')
    return 'kept'
  } catch (error) {
    return saysNoSavepoint(error) ? 'ended' : 'stuck'
  }
}

/**
 * Runs statements that end work, on a handle on which the host left a statement open. better-sqlite3 refuses every call
 * there until the host ends that statement, which may never happen. SQLite itself allows them, and other drivers refuse
 * nothing.
 *
 * @returns `impossible` if the handle has no such mode; `failed` if the statements failed
 */
export function execDespiteOpenStatements(handle: SqliteHandle, sql: string): 'done' | 'failed' | 'impossible' {
  if (!('unsafeMode' in handle) || typeof handle.unsafeMode !== 'function') return 'impossible'

  handle.unsafeMode(true)
  try {
    handle.exec(sql)
    return 'done'
  } catch {
    return 'failed'
  } finally {
    handle.unsafeMode(false)
  }
}
