import { closedError } from '../../../schema/errors.ts'
import type { Retry } from '../errors.ts'
import { busy, unavailable } from '../errors.ts'

/** What a result code of SQLite means to a caller: that the database is busy, or why it cannot be used. */
interface Meaning {
  readonly number: number
  readonly name: string
  readonly says: 'busy' | { readonly message: string }
}

/** Source: https://www.sqlite.org/rescode.html. Any other code is a fault. */
const MEANINGS: readonly Meaning[] = [
  { number: 5, name: 'BUSY', says: 'busy' },
  { number: 6, name: 'LOCKED', says: 'busy' },
  { number: 8, name: 'READONLY', says: { message: 'the database cannot be written' } },
  { number: 10, name: 'IOERR', says: { message: 'the disk failed to read or write the database' } },
  { number: 11, name: 'CORRUPT', says: { message: 'the database is damaged' } },
  { number: 13, name: 'FULL', says: { message: 'the disk is full' } },
  { number: 14, name: 'CANTOPEN', says: { message: 'the database file cannot be opened' } },
  { number: 15, name: 'PROTOCOL', says: 'busy' },
  { number: 26, name: 'NOTADB', says: { message: 'the file is not an SQLite database' } },
]

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
  if (saysInsideTransaction(error)) return busy(retry, error)
  const meaning = meaningOf(error)
  if (meaning === undefined) return error
  return meaning.says === 'busy' ? busy(retry, error) : unavailable(meaning.says.message, error)
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
 * Returns what the primary result code of an error means. Drivers give the code as text or as a number, a Durable Object
 * at the end of its message.
 */
function meaningOf(error: unknown): Meaning | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') {
    const primary = error.errcode & 0xff
    return MEANINGS.find(({ number }) => number === primary)
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const [, name] = /^SQLITE_([A-Z]+)/.exec(code) ?? /: SQLITE_([A-Z]+)/.exec(error.message) ?? []
  return MEANINGS.find((meaning) => meaning.name === name)
}
