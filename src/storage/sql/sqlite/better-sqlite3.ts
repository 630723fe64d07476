import { closeSync, openSync, readlinkSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { unavailable } from '../errors.ts'
import type { OwnHandle, SqliteHandle } from './handle.ts'
import { isOwnHandle } from './handle.ts'

/** The first version of better-sqlite3 that needs Node-API 10. It ends the process if Node-API 10 is missing. */
const FIRST_NEEDING_NAPI_10 = 13

/** A handle of better-sqlite3, with the calls that a host needs to write beside a forge. The handle itself has more. */
export interface SqliteConnection extends SqliteHandle {
  /** Whether a transaction is open. */
  readonly inTransaction: boolean
  /** Closes the handle. */
  close(): unknown
}

/** Read and write for the owner, nothing for others: the database holds private data of its application. */
const FILE_MODE = 0o600

/**
 * Opens a file, or `:memory:`, with the better-sqlite3 that is installed beside the application. A file that it creates
 * is readable and writable by its owner only; an existing file keeps its mode.
 */
export function openWithBetterSqlite3(file: string): SqliteConnection {
  const require = createRequire(import.meta.url)
  const reason = whyUnusable(installedVersion(require), process.versions['napi'])
  if (reason !== undefined) throw unavailable(reason)

  const Constructor: unknown = require('better-sqlite3')
  const handle = construct(Constructor, createdFile(file.trim())) // better-sqlite3 trims the name too
  if (tellsTransactions(handle)) return handle
  handle.close()
  throw unavailable('the installed better-sqlite3 does not report whether a transaction is open')
}

/**
 * Returns why a better-sqlite3 cannot be used here and how to fix that, or undefined if it can be used.
 *
 * @param version - of the installed package; undefined if it is not installed
 * @param napi - the Node-API version of this Node, as in `process.versions.napi`
 */
export function whyUnusable(version: string | undefined, napi: string | undefined): string | undefined {
  if (version === undefined) {
    return 'better-sqlite3 is not installed: npm i better-sqlite3@12, or pass an open handle instead of a file name'
  }
  if (Number.parseInt(version, 10) < FIRST_NEEDING_NAPI_10 || Number(napi ?? 0) >= 10) return undefined
  return `better-sqlite3 ${version} does not run on this version of Node: npm i better-sqlite3@12, or use Node 22 or newer`
}

/**
 * Creates an empty database file and returns its absolute path, which no build of SQLite reads as a URI. SQLite would
 * create the file with the mode 0644, and gives `-wal` and `-shm` the mode of the database. If the file cannot be
 * created, the driver reports why. An existing file is never opened here: closing it would release all locks that this
 * process holds on it.
 */
function createdFile(file: string): string {
  if (file === '' || file === ':memory:') return file
  const path = resolve(file)
  try {
    closeSync(openSync(endOfLinks(path), 'wx', FILE_MODE))
  } catch {
    // The file exists, or the driver will fail to open it.
  }
  return path
}

/** The number of symbolic links that Linux follows. */
const MAX_LINKS = 40

/** Returns the path at the end of symbolic links, where SQLite creates a file that the last of them only names. */
function endOfLinks(path: string): string {
  let end = path
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const target = targetOf(end)
    if (target === undefined) break
    end = resolve(realpathSync(dirname(end)), target)
  }
  return end
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // not a link, or nothing
  }
}

/** Opens a file, or `:memory:`, with a constructor of handles. @throws ForgeError `STORAGE_UNAVAILABLE` */
export function construct(Constructor: unknown, file: string): OwnHandle {
  if (typeof Constructor !== 'function') throw unavailable('the SQLite driver has no constructor to open a file with')

  const handle: unknown = opened(() => Reflect.construct(Constructor, [file]))
  if (!isOwnHandle(handle)) throw unavailable('the SQLite driver opened a file but returned no handle')
  return handle
}

function tellsTransactions(handle: OwnHandle): handle is SqliteConnection {
  return 'inTransaction' in handle && typeof handle.inTransaction === 'boolean'
}

function installedVersion(require: NodeJS.Require): string | undefined {
  const manifest = ((): unknown => {
    try {
      return require('better-sqlite3/package.json')
    } catch {
      return undefined
    }
  })()
  if (typeof manifest !== 'object' || manifest === null || !('version' in manifest)) return undefined
  return String(manifest.version)
}

function opened(open: () => unknown): unknown {
  try {
    return open()
  } catch (error) {
    throw lacksBinary(error) ? unavailable(NO_BINARY, error) : unavailable('the database file cannot be opened', error)
  }
}

const NO_BINARY = 'better-sqlite3 is installed without its binary for this Node: npm rebuild better-sqlite3'

function lacksBinary(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    ('code' in error && error.code === 'ERR_DLOPEN_FAILED') || error.message.startsWith('Could not locate the bindings')
  )
}
