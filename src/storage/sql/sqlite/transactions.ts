import { isForgeError } from '../../../schema/errors.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { saysClosed, saysInsideTransaction, saysNoSavepoint, saysOldSnapshot, unavailable } from './errors.ts'
import type { SqliteHandle } from './handle.ts'

/**
 * What a failure left of the transaction it came in. `kept`: only what failed is taken back. `ended`: what was begun is
 * gone, with everything that was done in it. `stuck`: what failed could not be taken back, and is in it still.
 */
export type Left = 'kept' | 'ended' | 'stuck'

/** How one piece of work inside a transaction ended. */
export type Ending<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown; readonly left: Left }

/**
 * Runs work inside the open transaction, all or nothing: what fails leaves the rest of the transaction as it was.
 * @throws TypeError where the host left a statement open that was writing: nothing is begun then
 */
export function inSavepoint<T>(connection: Connection, work: () => T): Ending<T> {
  connection.command('savepoint forgelet')
  try {
    const value = work()
    release(connection)
    return { ok: true, value }
  } catch (error) {
    return { ok: false, error, left: takeBack(connection) }
  }
}

/** Runs work in a transaction of its own that holds the write lock from the start; whatever fails, none stays open. */
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

/** Runs reads that all see the same. */
export function inSnapshot<T>(connection: Connection, work: () => T): T {
  connection.command('begin')
  try {
    return work()
  } finally {
    connection.command('rollback')
  }
}

/**
 * Whether a handle is inside a transaction. Handles do not tell in one way, but all refuse a second BEGIN. `unknown`: a
 * statement is open on it, and nothing else can be run.
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

/** The error for the neighbours of a change that spoilt the transaction they shared, from what that left and failed with. */
export function lostTransaction(left: Left, cause: unknown): Error {
  if (left === 'stuck' || isForgeError(cause, 'STORAGE_UNAVAILABLE')) {
    return unavailable('the transaction was ended before it could be committed', cause)
  }
  const message = 'a beforeCommit ended the transaction it was given: whether its batch is written is not known'
  return unavailable(message, cause, 'unknown')
}

/** On a writer that is nobody else's, whatever refuses a BEGIN but another writer is a left-over: it is cleared away. */
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

/** Ends whatever transaction is open; a writer that can be used for nothing else then is replaced. */
function rollBack(connections: Connections<SqliteHandle>): void {
  const { writer, writerHandle } = connections
  try {
    writer.command('rollback')
  } catch {
    // there was none, for the failure that brought us here has ended it; or the host has spoilt the handle
    if (isSpoilt(writerHandle)) connections.replaceWriter()
    return
  }
  if (isStillWriting(writer)) connections.replaceWriter()
}

/** Whether a statement of the host's is writing still: it outlives its transaction, and refuses every savepoint after it. */
function isStillWriting(writer: Connection): boolean {
  try {
    writer.command('savepoint forgelet')
    writer.command('release forgelet')
    return false
  } catch {
    return true
  }
}

/** A writer whose transaction could not be ended is kept, for it is ended when the host has ended its statement. */
function isSpoilt(writer: SqliteHandle): boolean {
  const state = transactionOn(writer)
  if (state !== 'unknown') return state === 'closed'
  return execDespiteOpenStatements(writer, 'rollback') !== 'impossible'
}

function release(connection: Connection): void {
  try {
    connection.command('release forgelet')
  } catch (error) {
    if (isForgeError(error) && !saysClosed(error.cause)) throw error
    const message =
      'beforeCommit must leave its transaction as it was given: open, and with no statement unfinished on it'
    throw new TypeError(message, { cause: error })
  }
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
 * Runs statements that end work, on a handle on which the host left a statement open. better-sqlite3 refuses to run
 * anything there until the host ends that statement, which it may never do, and SQLite itself does not mind; other
 * drivers refuse nothing.
 *
 * @returns `impossible` when the handle cannot be told to; `failed` when the statements were run in vain
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
