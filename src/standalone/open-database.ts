import type { Stats } from 'node:fs'
import { statSync } from 'node:fs'
import { ForgeError, isForgeError } from '../index.ts'
import type { SqliteConnection } from '../storage/sqlite.ts'
import { openSqlite } from '../storage/sqlite.ts'

/** How long a statement waits for another process while the host starts, in milliseconds. */
const PATIENCE_AT_START = 5000

/**
 * Opens the host's database: a file, or `:memory:`.
 *
 * @throws ForgeError `STORAGE_UNAVAILABLE` if no driver is usable, or if the file cannot be opened or is not a database
 */
export function openDatabase(file: string): SqliteConnection {
  refuseUnusual(file)
  return asUsable(() => {
    const connection = openSqlite(file)
    closedOnFailure(connection, () => {
      connection.exec(`pragma busy_timeout = ${PATIENCE_AT_START}`)
      connection.prepare('select count(*) as tables from sqlite_master').all()
    })
    return connection
  })
}

/** Refuses a path that is not a regular file. SQLite would wait for a pipe, and write into a device. */
function refuseUnusual(file: string): void {
  const stats = statsOf(file)
  if (stats?.isDirectory()) throw unavailable('it is a directory: name a file in it')
  if (stats !== undefined && !stats.isFile()) throw unavailable('it is a pipe or a device: name an ordinary file')
}

/**
 * Returns undefined if the file is missing, or if it cannot be inspected; in the latter case the driver reports the
 * reason.
 */
function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}

function closedOnFailure(connection: SqliteConnection, work: () => void): void {
  try {
    work()
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * Runs work on a database. Converts an error of the driver to a ForgeError whose message contains neither the file nor
 * the statement.
 * @throws ForgeError `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
 */
export function asUsable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw storageError(error) ?? error
  }
}

/**
 * Converts an error of an SQLite driver to a ForgeError that names the fix, including errors that the driver threw to
 * the storage. Returns undefined for any other error.
 */
export function storageError(thrown: unknown): ForgeError | undefined {
  const error = isForgeError(thrown, 'STORAGE_UNAVAILABLE') ? thrown.cause : thrown
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new ForgeError('STORAGE_BUSY', 'another process has locked it', { retry: 'call' }, { cause: error })
  }

  const text = `${code} ${error.message}`
  const [, reason] = FAILURES.find(([pattern]) => pattern.test(text)) ?? []
  if (reason !== undefined) return unavailable(reason, error)
  return code.startsWith('SQLITE_') ? unavailable(`the database failed: ${error.message}`, error) : undefined
}

const FAILURES: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^SQLITE_NOTADB/, 'it is not an SQLite database: name another file'],
  [/^SQLITE_CORRUPT/, 'it is damaged: restore a copy, or name another file'],
  [/^SQLITE_CANTOPEN/, 'it cannot be opened: name a file that can be read and written'],
  [/^SQLITE_READONLY/, 'it cannot be written: change its permissions, or name another file'],
  [/^SQLITE_FULL/, 'the disk is full: free some space'],
  [/directory does not exist/, 'its directory does not exist: create it, or name another file'],
]

/** Creates the error for a database that cannot be used. Nothing was written. */
export function unavailable(message: string, cause?: unknown): ForgeError {
  return new ForgeError('STORAGE_UNAVAILABLE', message, { outcome: 'nothing-done' }, { cause })
}
