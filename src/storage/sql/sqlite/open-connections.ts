import { existsSync } from 'node:fs'
import { construct, openWithBetterSqlite3 } from './better-sqlite3.ts'
import type { Connections } from './connections.ts'
import { FileConnections } from './file-connections.ts'
import type { SqliteHandle } from './handle.ts'
import { asHosts, fileOf } from './handle.ts'
import { OneConnection } from './one-connection.ts'

/** Whether there is a database to open: a file name may name one that is still to be made. */
export function databaseExists(database: string | SqliteHandle): boolean {
  return typeof database !== 'string' || isInMemory(database) || existsSync(database)
}

/** Opens connections of our own to a file, or takes the one there is to a database in memory. */
export function openConnections<H extends SqliteHandle>(database: string | H): Connections<H> {
  if (typeof database === 'string') return isInMemory(database) ? openInMemory(database) : openFile(database)

  const file = fileOf(database)
  if (file === '') return new OneConnection(database, () => undefined)
  return new FileConnections(() => construct(database.constructor, file))
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
