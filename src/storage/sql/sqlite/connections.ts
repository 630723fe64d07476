import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { construct, openWithBetterSqlite3 } from './better-sqlite3.ts'
import { Connection } from './connection.ts'
import type { OwnHandle, SqliteHandle } from './handle.ts'
import { asHosts, fileOf, isHandle } from './handle.ts'

/** The connections that plain calls run on. */
export interface Connections<H> {
  /** Sees what is committed. */
  readonly reader: Connection
  /** @throws ForgeError `STORAGE_BUSY` when it cannot be made ready to write just now */
  readonly writer: Connection
  /** The writer's handle: the transaction that the host's `beforeCommit` gets. */
  readonly writerHandle: H
  /** Whether reader and writer are one, as they must be for a database in memory. */
  readonly shared: boolean
  /** Whether a handle is open on the same database. */
  includes(handle: SqliteHandle): boolean
  /** Puts away a writer that nothing can be run on any more, so that the next change has another; does nothing where it is shared. */
  replaceWriter(): void
  /** Ends what we opened. */
  close(): void
}

/** A database in a file: a writer and a reader of our own, so that no reader waits for a writer. */
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
    // asked again until it succeeds: while others read in the old mode, the file cannot leave it
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
    this.#writer ??= connect(
      this.#open(),
      'pragma busy_timeout = 0; pragma foreign_keys = on; pragma synchronous = full',
    )
    return this.#writer
  }
}

interface OwnConnection {
  readonly handle: OwnHandle
  readonly connection: Connection
}

/** Sets a new connection up; one that cannot be is closed again. */
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

/** A handle with a statement of the host's open on it cannot be closed: it goes with that statement. */
function closeIfPossible(spoilt: OwnConnection): void {
  try {
    close(spoilt)
  } catch {
    // what matters is done: its transaction has ended
  }
}

/** A database in memory, or a temporary one: nobody else can reach it, so there is one connection for everything. */
class OneConnection<H extends SqliteHandle> implements Connections<H> {
  readonly reader: Connection
  readonly writer: Connection
  readonly writerHandle: H
  readonly shared = true
  readonly #end: () => void

  /** @param end - closes the handle, when it is ours */
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
    // there is no other connection to this database: it can be used again when the host has ended its statement
  }

  close(): void {
    this.writer.end()
    this.#end()
  }
}

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
