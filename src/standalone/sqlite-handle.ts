import { createRequire } from 'node:module'
import { ForgeError } from '../index.ts'
import type { SqlHandle } from './roster/sql-session.ts'

/** An open better-sqlite3 database, as far as the host uses it. */
export interface SqliteConnection extends SqlHandle {
  readonly inTransaction: boolean
  close(): unknown
}

type Driver = new (file: string, options: { readonly timeout: number }) => SqliteConnection

/** Milliseconds a statement waits for another process while the host starts. */
const PATIENCE_AT_START = 5000

/**
 * Opens an SQLite file, or `:memory:`, with better-sqlite3, which is loaded here and not before.
 *
 * @throws ForgeError `STORAGE_UNAVAILABLE` when there is no usable driver or the file cannot be opened or is no database
 */
export function openSqlite(file: string): SqliteConnection {
  const Database = loadDriver()
  return asUsable(() => {
    const connection = new Database(file, { timeout: PATIENCE_AT_START })
    closedOnFailure(connection, () => connection.prepare('select count(*) as tables from sqlite_master').all())
    return connection
  })
}

function closedOnFailure(connection: SqliteConnection, work: () => void): void {
  try {
    work()
  } catch (error) {
    connection.close()
    throw error
  }
}

function loadDriver(): Driver {
  const require = createRequire(import.meta.url)
  const { version } = loaded(() => require('better-sqlite3/package.json') as { readonly version: string })
  // Version 13 needs a newer Node-API than Node 20 has, and ends the process with a segmentation fault there.
  if (Number.parseInt(version, 10) >= 13 && Number(process.versions['napi']) < 10) {
    throw unavailable(
      `better-sqlite3 ${version} cannot run on Node ${process.versions.node}: npm install better-sqlite3@12`,
    )
  }
  // The package has no types of its own; `Driver` is the part that is called.
  return loaded(() => require('better-sqlite3') as Driver)
}

function loaded<T>(load: () => T): T {
  try {
    return load()
  } catch (cause) {
    throw unavailable('better-sqlite3 is missing: npm install better-sqlite3@12', cause)
  }
}

/**
 * Runs work on a database; what the driver throws becomes a forge error whose message names neither file nor SQL.
 * @throws ForgeError `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
 */
export function asUsable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw storageError(error) ?? error
  }
}

/** The forge error for what an SQLite driver threw; undefined for anything else. */
export function storageError(error: unknown): ForgeError | undefined {
  if (error instanceof TypeError && /directory does not exist/.test(error.message)) {
    return unavailable('its folder does not exist', error)
  }
  const code = codeOf(error)
  if (code === undefined) return undefined
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new ForgeError('STORAGE_BUSY', 'another process keeps it locked', { retry: 'call' }, { cause: error })
  }

  const [, reason] = REASONS.find(([prefix]) => code.startsWith(prefix)) ?? []
  return unavailable(reason ?? `it failed with ${code}`, error)
}

const REASONS: readonly (readonly [prefix: string, reason: string])[] = [
  ['SQLITE_NOTADB', 'it is not an SQLite database'],
  ['SQLITE_CORRUPT', 'it is damaged'],
  ['SQLITE_CANTOPEN', 'it cannot be opened'],
  ['SQLITE_READONLY', 'it may not be written'],
  ['SQLITE_FULL', 'the disk is full'],
]

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return error.code.startsWith('SQLITE_') ? error.code : undefined
}

function unavailable(message: string, cause?: unknown): ForgeError {
  return new ForgeError('STORAGE_UNAVAILABLE', message, { outcome: 'nothing-done' }, { cause })
}
