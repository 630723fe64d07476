import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { hasMethods } from '../../../schema/arguments.ts'
import { textQuery } from '../dialect.ts'
import { unavailable } from '../errors.ts'
import type { SqliteHandle } from './connection.ts'
import { Connection, saysInsideTransaction, saysOccupied } from './connection.ts'

/** A handle of better-sqlite3, with the calls that a host needs to write beside a forge. The handle itself has more. */
export interface SqliteConnection extends SqliteHandle {
  /** Whether a transaction is open. */
  readonly inTransaction: boolean
  /** Closes the handle. */
  close(): unknown
}

/** A handle that the storage opened, and closes. */
type OwnHandle = SqliteHandle & Pick<SqliteConnection, 'close'>

/** Returns whether a value is a handle. */
export function isHandle(value: unknown): value is SqliteHandle {
  return hasMethods(value, 'prepare', 'exec')
}

function isOwnHandle(value: unknown): value is OwnHandle {
  return hasMethods(value, 'prepare', 'exec', 'close')
}

function isBetterSqlite3(value: unknown): value is SqliteConnection {
  return isOwnHandle(value) && 'inTransaction' in value
}

/** The name of a database in memory. */
export const IN_MEMORY = ':memory:'

/** Returns the name that stays the same if the process changes its directory. @throws TypeError if the name is empty */
export function absoluteFile(file: string): string {
  const name = file.trim() // better-sqlite3 trims the name too
  if (name === '') throw new TypeError('the file name is empty: name a file, or use :memory:')
  return name === IN_MEMORY ? name : resolve(name)
}

/**
 * Opens a file, or `:memory:`, with the better-sqlite3 that is installed beside the application. No build of SQLite
 * reads an absolute path as a URI. @throws ForgeError `STORAGE_UNAVAILABLE`
 */
export function openWithBetterSqlite3(file: string): SqliteConnection {
  return openWith(betterSqlite3(), absoluteFile(file), isBetterSqlite3)
}

function betterSqlite3(): SqliteHandle['constructor'] {
  try {
    return createRequire(import.meta.url)('better-sqlite3')
  } catch (error) {
    const fix = 'npm i better-sqlite3@12, or pass an open handle instead of a file name'
    throw unavailable(`better-sqlite3 is not installed: ${fix}`, error)
  }
}

/** Opens another handle of the host's kind on its file. A class of the host may open any other database. */
export function openAnother(hosts: SqliteHandle, file: string): OwnHandle {
  const handle = openWith(hosts.constructor, file, isOwnHandle)
  if (fileOf(handle) === file) return handle

  handle.close()
  throw new TypeError('the constructor of the handle opens another database: pass a handle of the driver')
}

function openWith<T>(driver: SqliteHandle['constructor'], file: string, isHandle: (value: unknown) => value is T): T {
  let handle: unknown
  try {
    handle = Reflect.construct(driver, [file])
  } catch (error) {
    throw unavailable(lacksBinary(error) ? NO_BINARY : 'the database file cannot be opened', error)
  }
  if (isHandle(handle)) return handle
  throw unavailable('the SQLite driver opened a file but returned no handle')
}

const NO_BINARY = 'better-sqlite3 is installed without its binary for this Node: npm rebuild better-sqlite3'

function lacksBinary(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    ('code' in error && error.code === 'ERR_DLOPEN_FAILED') || error.message.startsWith('Could not locate the bindings')
  )
}

/**
 * Returns the file that a handle is open on, as SQLite names it; `''` for a database in memory or a temporary one.
 *
 * @throws TypeError if the handle returns rows in an unknown shape; ForgeError `STORAGE_UNAVAILABLE` if it is closed
 */
export function fileOf(handle: SqliteHandle): string {
  for (const row of query(handle, 'pragma database_list')) {
    if (typeof row !== 'object' || row === null || !('name' in row) || !('file' in row)) continue
    if (row.name === 'main' && row.file === null) return ''
    if (row.name === 'main' && typeof row.file === 'string') return row.file
  }
  throw new TypeError('the handle must return rows as objects by column name: the name of its file cannot be read')
}

/** Returns the number that a pragma of a handle is set to. */
export function setting(handle: SqliteHandle, pragma: string): number {
  const [row] = query(handle, `pragma ${pragma}`)
  return Number(Object.values(Object(row))[0])
}

function query(handle: SqliteHandle, sql: string): readonly unknown[] {
  return new Connection(handle, 'call').all(textQuery(sql))
}

/** Returns whether a transaction is open. Drivers have two names for it; a handle that has neither refuses a second BEGIN. */
export function isInTransaction(handle: SqliteHandle): boolean {
  try {
    if ('inTransaction' in handle) return handle.inTransaction === true
    if ('isTransaction' in handle) return handle.isTransaction === true
    handle.exec('begin; rollback')
    return false
  } catch (error) {
    return saysInsideTransaction(error) // any other error is that of a handle that cannot be used
  }
}

/**
 * Runs statements that end work on a handle, also if the host has a statement open there: better-sqlite3 then refuses
 * every call unless it is told otherwise, which SQLite allows.
 */
export function execAnyway(handle: SqliteHandle, sql: string): void {
  try {
    handle.exec(sql)
  } catch (error) {
    if (!(saysOccupied(error) && 'unsafeMode' in handle && typeof handle.unsafeMode === 'function')) throw error

    handle.unsafeMode(true)
    try {
      handle.exec(sql)
    } finally {
      handle.unsafeMode(false)
    }
  }
}
