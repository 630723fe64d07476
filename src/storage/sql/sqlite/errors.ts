import { closedError } from '../../../schema/errors.ts'
import type { Retry } from '../errors.ts'
import { busy, unavailable } from '../errors.ts'

/** Result codes of SQLite, by number. Source: https://www.sqlite.org/rescode.html */
const CODES: ReadonlyMap<number, string> = new Map([
  [5, 'BUSY'],
  [6, 'LOCKED'],
  [8, 'READONLY'],
  [10, 'IOERR'],
  [11, 'CORRUPT'],
  [13, 'FULL'],
  [14, 'CANTOPEN'],
  [15, 'PROTOCOL'],
  [26, 'NOTADB'],
])

const BUSY: ReadonlySet<string> = new Set(['BUSY', 'LOCKED', 'PROTOCOL'])

const UNAVAILABLE: ReadonlyMap<string, string> = new Map([
  ['READONLY', 'the database cannot be written'],
  ['IOERR', 'the disk failed to read or write the database'],
  ['CORRUPT', 'the database is damaged'],
  ['FULL', 'the disk is full'],
  ['CANTOPEN', 'the database file cannot be opened'],
  ['NOTADB', 'the file is not an SQLite database'],
])

/**
 * Returns the error to throw for an error of the driver, with that error as cause: `STORAGE_BUSY`,
 * `STORAGE_UNAVAILABLE`, or TypeError if the host left a statement open. Any other error is a fault and is returned
 * unchanged. Messages contain neither SQL nor paths.
 */
export function translateError(error: unknown, retry: Retry): unknown {
  if (saysClosed(error)) return closedError('the handle is closed', error)
  if (saysOccupied(error)) {
    return new TypeError('the handle is busy with another statement: finish it first', { cause: error })
  }
  const code = resultCode(error)
  if (code === undefined) return error
  if (BUSY.has(code) || saysInsideTransaction(error)) return busy(retry, error)

  const message = UNAVAILABLE.get(code)
  return message === undefined ? error : unavailable(message, error)
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
 * Returns whether a BEGIN was refused because a transaction is open. The text is SQLite's own; it has no code for it.
 */
export function saysInsideTransaction(error: unknown): boolean {
  return error instanceof Error && error.message.includes('within a transaction')
}

/**
 * Returns whether a call was refused because the handle is closed. The texts are those of better-sqlite3, node:sqlite
 * and bun:sqlite; closing a handle of node:sqlite finalizes its statements.
 */
export function saysClosed(error: unknown): boolean {
  return (
    error instanceof Error &&
    /database (connection )?is not open|closed database|database has closed|statement has been finalized/i.test(
      error.message,
    )
  )
}

/**
 * Returns whether a call was refused because a statement is open on the handle. better-sqlite3 then refuses every call.
 * SQLite itself refuses savepoints and a COMMIT while rows are being written, with the code of a busy database.
 */
export function saysOccupied(error: unknown): boolean {
  return error instanceof Error && /busy executing a query|SQL statements in progress/.test(error.message)
}

/**
 * Returns the primary result code without `SQLITE_`. Drivers give it as text or as a number, a Durable Object at the
 * end of its message. Undefined if the error did not come from the database.
 */
function resultCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') {
    const name = /^SQLITE_([A-Z]+)/.exec(error.code)?.[1]
    if (name !== undefined) return name
  }
  if ('errcode' in error && typeof error.errcode === 'number') return CODES.get(error.errcode & 0xff) ?? 'ERROR'
  return /: SQLITE_([A-Z]+)/.exec(error.message)?.[1]
}
