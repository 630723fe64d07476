import type { Stats } from 'node:fs'
import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { SqlHandle } from './host-store/sql-session.ts'
import { asUsable, unavailable } from './sqlite-failures.ts'

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
  refuseUnusual(file)
  return asUsable(() => {
    const connection = new Database(file, { timeout: PATIENCE_AT_START })
    closedOnFailure(connection, () => connection.prepare('select count(*) as tables from sqlite_master').all())
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

function loadDriver(): Driver {
  const require = createRequire(import.meta.url)
  // A package has a version.
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
