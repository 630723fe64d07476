import type { Stats } from 'node:fs'
import { statSync } from 'node:fs'
import { ForgeError, isForgeError } from '../index.ts'
import type { SqliteConnection } from '../storage/sqlite.ts'
import { openSqlite } from '../storage/sqlite.ts'

/** Milliseconds a statement waits for another process while the host starts. */
const PATIENCE_AT_START = 5000

/**
 * Opens the host's database: a file, or `:memory:`.
 *
 * @throws ForgeError `STORAGE_UNAVAILABLE` when there is no usable driver or the file cannot be opened or is no database
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

/** What is not an ordinary file: SQLite would wait for a pipe, and write into a device. */
function refuseUnusual(file: string): void {
  const stats = statsOf(file)
  if (stats?.isDirectory()) throw unavailable('it is a folder: name a file in it')
  if (stats !== undefined && !stats.isFile()) throw unavailable('it is a pipe or a device: name an ordinary file')
}

/** Undefined when there is no such file, or the driver has to tell why it cannot be looked at. */
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
 * Runs work on a database; what the driver throws becomes a forge error whose message names neither file nor statement.
 * @throws ForgeError `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
 */
export function asUsable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw storageError(error) ?? error
  }
}

/** The forge error, with the mend, for what an SQLite driver threw, to the storage too; undefined for anything else. */
export function storageError(thrown: unknown): ForgeError | undefined {
  const error = isForgeError(thrown, 'STORAGE_UNAVAILABLE') ? thrown.cause : thrown
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new ForgeError('STORAGE_BUSY', 'another process keeps it locked', { retry: 'call' }, { cause: error })
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
  [/^SQLITE_FULL/, 'the disk is full: make room'],
  [/directory does not exist/, 'its folder does not exist: make the folder, or name another file'],
]

/** The error for a database that cannot be used; nothing was done. */
export function unavailable(message: string, cause?: unknown): ForgeError {
  return new ForgeError('STORAGE_UNAVAILABLE', message, { outcome: 'nothing-done' }, { cause })
}
