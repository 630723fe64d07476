import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { construct, openWithBetterSqlite3 } from './better-sqlite3.ts'
import { Connection } from './connection.ts'
import type { OwnHandle, SqliteHandle } from './handle.ts'
import { asHosts, fileOf, isHandle } from './handle.ts'

/** The connections that plain calls use. */
export interface Connections<H> {
  /** Reads committed data. */
  readonly reader: Connection
  /** Writes. @throws ForgeError `STORAGE_BUSY` if it cannot be prepared for writing now */
  readonly writer: Connection
  /** The writer's handle: the transaction that the host's `beforeCommit` receives. */
  readonly writerHandle: H
  /** Whether the reader and the writer are one connection, as they must be for a database in memory. */
  readonly shared: boolean
  /** Returns whether a handle is open on the same database. */
  includes(handle: SqliteHandle): boolean
  /**
   * Discards a writer that can no longer run anything, so that the next change has another. Does nothing if the writer
   * is shared.
   */
  replaceWriter(): void
  /** Closes what the storage opened. */
  close(): void
}

/** A database in a file: our own writer and our own reader, so that no reader waits for a writer. */
class FileConnections<H extends SqliteHandle> implements Connections<H> {
  readonly reader: Connection
  readonly shared = false
  readonly #open: () => OwnHandle
  readonly #reader: OwnConnection
  readonly #file: string
  #writer: OwnConnection | undefined
  #writesAhead = false

  /** @param open - opens one more handle on the file */
  constructor(open: () => OwnHandle) {
    this.#open = open
    this.#reader = connect(open(), 'pragma busy_timeout = 0; pragma query_only = on')
    this.reader = this.#reader.connection
    this.#file = fileOf(this.#reader.handle)
  }

  get writer(): Connection {
    const { connection } = this.#ownWriter()
    // Retried until it succeeds: the file cannot leave the old mode while others read in it.
    if (!this.#writesAhead) connection.exec('pragma journal_mode = wal')
    this.#writesAhead = true
    return connection
  }

  get writerHandle(): H {
    return asHosts(this.#ownWriter().handle)
  }

  includes(handle: SqliteHandle): boolean {
    return fileOf(handle) === this.#file
  }

  replaceWriter(): void {
    const spoilt = this.#writer
    this.#writer = undefined
    if (spoilt !== undefined) closeIfPossible(spoilt)
  }

  close(): void {
    const writer = this.#writer
    this.#writer = undefined
    close(this.#reader)
    if (writer !== undefined) close(writer)
  }

  #ownWriter(): OwnConnection {
    this.#writer ??= connect(this.#open(), WRITER_SETTINGS)
    return this.#writer
  }
}

/**
 * With `temp_store = memory`, SQLite keeps the pages that a savepoint may have to restore in memory. Otherwise it writes
 * them to a temporary file once they exceed 64 KB, which a batch of changes does, and a change then costs half as much
 * again.
 */
const WRITER_SETTINGS =
  'pragma busy_timeout = 0; pragma foreign_keys = on; pragma synchronous = full; pragma temp_store = memory'

interface OwnConnection {
  readonly handle: OwnHandle
  readonly connection: Connection
}

/** Configures a new connection. If that fails, the connection is closed again. */
function connect(handle: OwnHandle, pragmas: string): OwnConnection {
  const connection = new Connection(handle, 'call', 'us')
  try {
    connection.exec(pragmas)
    return { handle, connection }
  } catch (error) {
    handle.close()
    throw error
  }
}

function close({ handle, connection }: OwnConnection): void {
  connection.end()
  handle.close()
}

/** A handle that has an open statement of the host cannot be closed: it goes with that statement. */
function closeIfPossible(spoilt: OwnConnection): void {
  try {
    close(spoilt)
  } catch {
    // Enough is done: its transaction has ended.
  }
}

/** A database in memory, or a temporary one. No one else can reach it, so one connection serves everything. */
class OneConnection<H extends SqliteHandle> implements Connections<H> {
  readonly reader: Connection
  readonly writer: Connection
  readonly writerHandle: H
  readonly shared = true
  readonly #end: () => void

  /** @param end - closes the handle, if it is ours */
  constructor(handle: H, end: () => void) {
    this.writerHandle = handle
    this.writer = new Connection(handle, 'call', 'host')
    this.reader = this.writer
    this.#end = end
  }

  includes(handle: SqliteHandle): boolean {
    return handle === this.writerHandle
  }

  replaceWriter(): void {
    // This is the only connection to the database. It can be used again when the host has ended its statement.
  }

  close(): void {
    this.writer.end()
    this.#end()
  }
}

/**
 * Returns the database that a storage is given: an open handle, or a file as an absolute path, which stays the same if
 * the process changes its directory.
 * @throws TypeError if it is neither
 */
export function databaseFrom<H extends SqliteHandle>(given: string | H): string | H {
  if (typeof given !== 'string') {
    if (isHandle(given)) return given
    throw new TypeError('an SQLite storage needs a file name or an open handle')
  }

  const name = given.trim() // better-sqlite3 trims the name too
  if (name === '') throw new TypeError('the file name is empty: name a file, or use :memory:')
  return isInMemory(name) ? name : resolve(name)
}

/** Returns whether the database exists: a file name may name a file that is not created yet. */
export function databaseExists(database: string | SqliteHandle): boolean {
  return typeof database !== 'string' || isInMemory(database) || existsSync(database)
}

/** Opens our own connections to a file, or uses the single connection to a database in memory. */
export function openConnections<H extends SqliteHandle>(database: string | H): Connections<H> {
  if (typeof database === 'string') return isInMemory(database) ? openInMemory(database) : openFile(database)

  const file = fileOf(database)
  if (file === '') return new OneConnection(database, () => undefined)
  return new FileConnections(() => openAnother(database, file))
}

/** Opens another handle of the host's kind on its file. A class of the host may open any other database. */
function openAnother(hosts: SqliteHandle, file: string): OwnHandle {
  const handle = construct(hosts.constructor, file)
  if (fileOf(handle) === file) return handle

  handle.close()
  throw new TypeError('the constructor of the handle opens another database: pass a handle of the driver')
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
