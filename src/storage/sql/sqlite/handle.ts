import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { hasMethods } from '../../../schema/arguments.ts'
import { isForgeError } from '../../../schema/errors.ts'
import { isError } from '../../../schema/realms.ts'
import { isPromise } from '../../../schema/sync-or-async.ts'
import { textQuery } from '../dialect.ts'
import { unavailable } from '../errors.ts'
import type { SqlValue } from '../query.ts'
import { Connection, isOccupied, NO_DATABASE, translateError } from './connection.ts'
import type { SqliteHandle } from './drivers.ts'
import { driverOf } from './drivers.ts'

/** A handle of better-sqlite3, with the calls that a host needs to write beside a forge. The handle itself has more. */
export interface SqliteConnection extends SqliteHandle {
  /** Whether a transaction is open. */
  readonly inTransaction: boolean
  /** Closes the handle. */
  close(): unknown
}

/** A handle that the storage opened, and closes. */
export type OwnHandle = SqliteHandle & Pick<SqliteConnection, 'close'>

/** Opens one more handle on a file. */
export type OpenHandle = (file: string) => unknown

/** Returns whether a value is a handle. */
export function isHandle(value: unknown): value is SqliteHandle {
  return hasMethods(value, 'prepare', 'exec')
}

function isOwnHandle(value: unknown): value is OwnHandle {
  return hasMethods(value, 'prepare', 'exec', 'close')
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
  const Driver = betterSqlite3()
  try {
    return new Driver(absoluteFile(file))
  } catch (error) {
    throw unavailable(lacksBinary(error) ? NO_BINARY : 'the database file cannot be opened', error)
  }
}

function betterSqlite3(): new (file: string) => SqliteConnection {
  // Where a bundle is CommonJS, `import.meta` is empty, or the place of this file while it was built.
  const require = createRequire(typeof __filename === 'string' ? __filename : import.meta.url)
  try {
    refuseCrash(require('better-sqlite3/package.json'))
    const driver = require('better-sqlite3')
    return driver.default ?? driver // where webpack makes an ES module, it imports it
  } catch (error) {
    if (isForgeError(error)) throw error
    throw unavailable(`better-sqlite3 is not installed: ${INSTALL}`, error)
  }
}

const INSTALL = 'npm i better-sqlite3@12, or pass an open handle instead of a file name'

/** Refuses a version that would end the process by a signal when it is loaded: 13 needs Node-API 10. */
function refuseCrash(installed: { readonly version: string }): void {
  if (Number.parseInt(installed.version, 10) < 13 || Number(process.versions['napi'] ?? 10) >= 10) return
  throw unavailable(`better-sqlite3 ${installed.version} needs Node 22.14 or newer: ${INSTALL}`)
}

/**
 * Opens another handle on the file of the host's.
 *
 * @param open - the host's own way. Default: the constructor of its handle, which may need more than the file
 * @throws ForgeError `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`; TypeError if it is no handle, or on another file
 */
export function openAnother(hosts: SqliteHandle, file: string, open: OpenHandle = constructorOf(hosts)): OwnHandle {
  let handle: unknown
  try {
    handle = open(file)
    if (isOwnHandle(handle) && fileOf(handle) === file) return handle
    throw new TypeError('it is not a handle on the file')
  } catch (error) {
    if (isOwnHandle(handle)) handle.close()
    throw asOther(error)
  }
}

function constructorOf(handle: SqliteHandle): OpenHandle {
  return (file) => Reflect.construct(handle.constructor, [file])
}

/** Checks that another handle reads the database of the host's. @throws what `openAnother` throws */
export function refuseOther(hosts: SqliteHandle, handle: SqliteHandle): void {
  const versionOf = (of: SqliteHandle): unknown => setting(of, 'schema_version')
  const before = versionOf(hosts)
  try {
    const read = versionOf(handle)
    // In a transaction, the host's handle may read an older state.
    if (read === before || read === versionOf(hosts) || driverOf(hosts).isInTransaction()) return
    throw new TypeError('it reads another schema')
  } catch (error) {
    throw asOther(error)
  }
}

/** Returns what to throw where a handle beside the host's fails. Without its key, a database seems to be none. */
function asOther(error: unknown): unknown {
  const translated = translateError(error, 'call')
  if (isForgeError(translated) && translated.message !== NO_DATABASE) return translated
  const fix = 'pass sqliteStorage(handle, { open: (file) => … }), which opens a handle as you have opened this one'
  return new TypeError(`a second handle does not read the database of the handle, as without its key: ${fix}`, {
    cause: error,
  })
}

/** Refuses a handle that locks out the handles beside it. */
export function refuseExclusive(handle: SqliteHandle): void {
  if (setting(handle, 'locking_mode') !== 'exclusive') return
  throw new TypeError(
    'the handle has locking_mode = exclusive, which locks out the handles of the storage: set it to normal',
  )
}

const NO_BINARY =
  'better-sqlite3 is installed without its binary for this runtime: npm rebuild better-sqlite3, or pass an open handle, on Bun of bun:sqlite'

function lacksBinary(error: unknown): boolean {
  if (!isError(error)) return false
  return (
    ('code' in error && error.code === 'ERR_DLOPEN_FAILED') || error.message.startsWith('Could not locate the bindings')
  )
}

/**
 * Returns the file that a handle is open on, as SQLite names it; `''` for a database in memory or a temporary one.
 *
 * @throws TypeError if it is not a handle that works; ForgeError `STORAGE_UNAVAILABLE` if it is closed
 */
export function fileOf(handle: SqliteHandle): string {
  refuseUnlike(handle)
  const databases = new Connection(handle, 'call').all(
    textQuery<{ readonly name: string; readonly file: string | null }>('pragma database_list'),
  )
  return databases.find(({ name }) => name === 'main')?.file ?? ''
}

/** Returns what a pragma of a handle is set to. */
export function setting(handle: SqliteHandle, pragma: string): unknown {
  const row = new Connection(handle, 'call').first(textQuery(`pragma ${pragma}`))
  return Object.values(Object(row))[0]
}

/**
 * Refuses a handle that has the calls of a handle but answers otherwise: with promises, with the row of the call before, or
 * without what our tables are made of.
 */
function refuseUnlike(handle: SqliteHandle): void {
  const connection = new Connection(handle, 'call')
  const given = (...parameters: SqlValue[]) => textQuery('select ? as "first", ? as "second"', parameters)
  let cause: unknown
  try {
    const answers = [connection.all(given(1, null)), connection.first(given('2', 2))]
    for (const answer of answers) if (isPromise(answer)) answer.catch(() => undefined)
    connection.all(textQuery('explain create table forgelet_probe (id integer primary key) strict, without rowid'))
    if (JSON.stringify(answers) === '[[{"first":1,"second":null}],{"first":"2","second":2}]') return
  } catch (error) {
    if (isForgeError(error) || isOccupied(Object(error).cause)) throw error
    cause = error
  }
  const advice = 'pass one of better-sqlite3, node:sqlite or bun:sqlite, which returns rows as objects by column name'
  throw new TypeError(`the handle does not answer as SQLite does: ${advice}`, { cause })
}
