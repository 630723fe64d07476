import type { Stats } from 'node:fs'
import { statSync } from 'node:fs'
import type { SqliteConnection } from '../storage/sqlite.ts'
import { openSqlite } from '../storage/sqlite.ts'
import { asUsable, unavailable } from './sqlite-failures.ts'

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
