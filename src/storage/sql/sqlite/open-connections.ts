import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { construct, openWithBetterSqlite3 } from './better-sqlite3.ts'
import type { Connections } from './connections.ts'
import { FileConnections } from './file-connections.ts'
import type { OwnHandle, SqliteHandle } from './handle.ts'
import { asHosts, fileOf, isHandle } from './handle.ts'
import { OneConnection } from './one-connection.ts'

/**
 * The database that a storage is given: an open handle, or a file, which stays the same when the process goes elsewhere.
 * @throws TypeError when it is neither
 */
export function databaseFrom<H extends SqliteHandle>(given: string | H): string | H {
  if (typeof given !== 'string') {
    if (isHandle(given)) return given
    throw new TypeError('an SQLite storage needs a file name or an open handle')
  }

  const name = given.trim() // as better-sqlite3 takes it
  if (name === '') throw new TypeError('the file name is empty: name a file, or ask for :memory:')
  return isInMemory(name) ? name : resolve(name)
}

/** Whether there is a database to open: a file name may name one that is still to be made. */
export function databaseExists(database: string | SqliteHandle): boolean {
  return typeof database !== 'string' || isInMemory(database) || existsSync(database)
}

/** Opens connections of our own to a file, or takes the one there is to a database in memory. */
export function openConnections<H extends SqliteHandle>(database: string | H): Connections<H> {
  if (typeof database === 'string') return isInMemory(database) ? openInMemory(database) : openFile(database)

  const file = fileOf(database)
  if (file === '') return new OneConnection(database, () => undefined)
  return new FileConnections(() => openAnother(database, file))
}

/** Opens one more handle of a host's kind on its file. A class of the host's own may open what it likes. */
function openAnother(hosts: SqliteHandle, file: string): OwnHandle {
  const handle = construct(hosts.constructor, file)
  if (fileOf(handle) === file) return handle

  handle.close()
  throw new TypeError('the constructor of the handle opens another database than the handle: hand in one of the driver')
}

function openFile<H extends SqliteHandle>(file: string): Connections<H> {
  return new FileConnections(() => openWithBetterSqlite3(file))
}

function openInMemory<H extends SqliteHandle>(name: string): Connections<H> {
  const handle = openWithBetterSqlite3(name)
  handle.exec('pragma foreign_keys = on')
  return new OneConnection(asHosts<H>(handle), () => handle.close())
}

function isInMemory(file: string): boolean {
  return file === ':memory:'
}
