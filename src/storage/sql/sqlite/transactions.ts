import type { Connection } from './connection.ts'
import { saysInsideTransaction, unavailable } from './driver-errors.ts'
import type { SqliteHandle } from './handle.ts'

/** How one piece of work inside a transaction ended. */
export type Ending<T> =
  | { readonly ok: true; readonly value: T }
  /** `lost`: the transaction itself is gone, with everything that was done in it. */
  | { readonly ok: false; readonly error: unknown; readonly lost: boolean }

/** Runs work inside the open transaction, all or nothing: what fails leaves the rest of the transaction as it was. */
export function inSavepoint<T>(connection: Connection, work: () => T): Ending<T> {
  try {
    connection.command('savepoint forgelet')
    const value = work()
    connection.command('release forgelet')
    return { ok: true, value }
  } catch (error) {
    return { ok: false, error, lost: !rolledBack(connection) }
  }
}

/** Runs work in a transaction of its own that holds the write lock from the start. */
export function inTransaction<T>(connection: Connection, work: () => T): T {
  connection.command('begin immediate')
  try {
    const value = work()
    connection.command('commit')
    return value
  } catch (error) {
    rollback(connection)
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

/** Ends whatever transaction is open. */
export function rollback(connection: Connection): void {
  try {
    connection.command('rollback')
  } catch {
    // there was none: the failure that brought us here has ended it already
  }
}

/** Whether a handle is inside a transaction. Handles do not tell in one way, but all refuse a second BEGIN. */
export function transactionOn(handle: SqliteHandle): 'open' | 'none' | 'unknown' {
  try {
    handle.exec('begin')
  } catch (error) {
    return saysInsideTransaction(error) ? 'open' : 'unknown'
  }
  handle.exec('rollback')
  return 'none'
}

/** The error for the neighbours of a change that ended the transaction they shared. */
export function lostTransaction(cause: unknown): Error {
  return unavailable('the transaction was ended before it could be committed', cause)
}

/** A rollback to the savepoint fails when the transaction is gone, for the savepoint went with it. */
function rolledBack(connection: Connection): boolean {
  try {
    connection.command('rollback to forgelet')
    connection.command('release forgelet')
    return true
  } catch {
    return false
  }
}
