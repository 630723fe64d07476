import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { closedError } from '../../../schema/errors.ts'
import { runSync } from '../../../schema/sync-or-async.ts'
import type { SchemaStatus } from '../../contract/storage.ts'
import type { MigratedTables, Schema } from '../schema/schema.ts'
import { outdated } from '../schema/schema.ts'
import type { SqliteHandle } from './connection.ts'
import { Connection } from './connection.ts'
import type { OwnHandle } from './handle.ts'
import { execAnyway, fileOf, isHandle, isInTransaction, openAnother, openWithBetterSqlite3, setting } from './handle.ts'

/** A connection that writes, and its handle: the transaction that the host's `beforeCommit` receives. */
export interface Writer<H> {
  readonly handle: H
  readonly connection: Connection
}

/** Our own writer and reader on a file, so that no reader waits for a writer; or the one connection to a database in memory. */
export interface ReaderAndWriter<H> {
  readonly reader: Connection
  /** Whether the reader and the writer are one connection. */
  readonly isShared: boolean
  /** Returns the writer. @throws ForgeError `STORAGE_BUSY` if it cannot be prepared for writing now */
  writer(): Writer<H>
  /** Ends the transaction of the writer, and the writer if it is ours alone: the next change has another. */
  discardWriter(): void
  /** Returns whether a handle is open on the same database. */
  includes(handle: SqliteHandle): boolean
  /** Closes what the storage opened. */
  close(): void
}

/** One database with our tables. It is opened at its first use, checked once, and closed at the end. */
export class SqliteDatabase<H extends SqliteHandle> {
  /** The host's handle, if the storage was given one. */
  readonly hostHandle: H | undefined
  readonly #file: string
  readonly #schema: Schema
  #connections: ReaderAndWriter<H> | undefined
  #isUsable = false
  #life: 'open' | 'closing' | 'ended' = 'open'

  /**
   * @param given - an open handle, or a file; the file stays the same if the process changes its directory
   * @throws TypeError if it is neither
   */
  constructor(given: string | H, schema: Schema) {
    this.hostHandle = typeof given === 'string' ? undefined : given
    this.#file = typeof given === 'string' ? absolute(given) : ''
    this.#schema = schema
    if (typeof given !== 'string' && !isHandle(given)) {
      throw new TypeError('an SQLite storage needs a file name or an open handle')
    }
  }

  /**
   * Returns the connections to a database whose tables can be used.
   * @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`, `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
   */
  connect(): ReaderAndWriter<H> {
    if (this.#isUsable && this.#connections !== undefined) return this.#connections
    this.#refuseEnded()
    if (!this.#exists()) throw outdated()

    return this.look((connections) => {
      runSync(this.#schema.refuseUnusable(connections.reader))
      this.#isUsable = true
      return connections
    })
  }

  /** Migrates tables: ours, or those of a host. Nothing is written before the version check has passed. */
  migrate(tables: MigratedTables): void {
    this.look((connections) => {
      if (connections.isShared && isInTransaction(connections.writer().handle)) {
        throw new TypeError('the handle is inside a transaction: end it before migrate()')
      }
      if (!runSync(tables.needsMigration(connections.reader))) return

      transact(connections, ({ connection }) => runSync(tables.complete(connection)))
    })
  }

  /** Runs work on a database that may not be usable. If the work fails, no connection stays open on such a database. */
  look<T>(work: (connections: ReaderAndWriter<H>) => T): T {
    this.#refuseEnded()
    this.#connections ??= this.#open()
    try {
      return work(this.#connections)
    } catch (error) {
      if (!this.#isUsable) this.#close()
      throw error
    }
  }

  /** Returns the state of the tables. Writes nothing. */
  status(): SchemaStatus {
    this.#refuseEnded()
    if (!this.#exists()) return { state: 'empty', warnings: [] }

    return this.look(({ reader, isShared }) => {
      const state = runSync(this.#schema.state(reader))
      return { state, warnings: isShared || this.hostHandle === undefined ? [] : warningsAbout(this.hostHandle) }
    })
  }

  /** Gives the next change another writer. A transaction on the one connection to a database in memory may be the host's. */
  replaceWriter(): void {
    if (this.#connections?.isShared === false) this.#connections.discardWriter()
  }

  /** Refuses new calls from now on. Earlier calls may still connect. */
  beginClosing(): void {
    if (this.#life === 'open') this.#life = 'closing'
  }

  /** Closes what the storage opened, permanently. */
  end(): void {
    this.#life = 'ended'
    this.#close()
  }

  /** Throws if the storage is closing. @throws ForgeError `STORAGE_UNAVAILABLE` for a new call once it is closing */
  refuseClosing(): void {
    if (this.#life !== 'open') throw closed()
  }

  #open(): ReaderAndWriter<H> {
    const { hostHandle } = this
    if (hostHandle !== undefined) {
      const file = fileOf(hostHandle)
      return file === '' ? shared(hostHandle, 'host') : onFile(() => openAnother(hostHandle, file))
    }
    if (this.#file !== IN_MEMORY) return onFile(() => openWithBetterSqlite3(this.#file))

    const handle = openWithBetterSqlite3(IN_MEMORY)
    handle.exec('pragma foreign_keys = on')
    return shared(asHosts<H>(handle), 'us', () => handle.close())
  }

  #exists(): boolean {
    return this.hostHandle !== undefined || this.#file === IN_MEMORY || existsSync(this.#file)
  }

  #refuseEnded(): void {
    if (this.#life === 'ended') throw closed()
  }

  #close(): void {
    this.#isUsable = false
    this.#connections?.close()
    this.#connections = undefined
  }
}

/**
 * Runs work in a transaction that has the write lock from the start. If anything fails behind BEGIN, no transaction stays
 * open, and the next one has another writer.
 */
export function transact<H, T>(connections: ReaderAndWriter<H>, work: (writer: Writer<H>) => T): T {
  const writer = connections.writer()
  writer.connection.command('begin immediate')
  try {
    const value = work(writer)
    writer.connection.command('commit')
    return value
  } catch (error) {
    connections.discardWriter()
    throw error
  }
}

const IN_MEMORY = ':memory:'

function absolute(file: string): string {
  const name = file.trim() // better-sqlite3 trims the name too
  if (name === '') throw new TypeError('the file name is empty: name a file, or use :memory:')
  return name === IN_MEMORY ? name : resolve(name)
}

function closed(): Error {
  return closedError('the storage is closed')
}

const READER_SETTINGS = 'pragma busy_timeout = 0; pragma query_only = on'

/**
 * With `temp_store = memory`, SQLite keeps the pages that a savepoint may have to restore in memory. Otherwise it writes
 * them to a temporary file once they exceed 64 KB, which a batch of changes does, and a change then costs half as much
 * again.
 */
const WRITER_SETTINGS =
  'pragma busy_timeout = 0; pragma foreign_keys = on; pragma synchronous = full; pragma temp_store = memory'

/** @param open - opens one more handle on the file */
function onFile<H extends SqliteHandle>(open: () => OwnHandle): ReaderAndWriter<H> {
  const reader = connected(open(), READER_SETTINGS)
  const file = fileOf(reader.handle)
  let writer: Writer<OwnHandle> | undefined
  let isWal = false

  function discardWriter(): void {
    const discarded = writer
    writer = undefined
    if (discarded === undefined) return
    rollBack(discarded.handle)
    try {
      close(discarded)
    } catch {
      // The host has a statement open on it: the handle goes with that statement.
    }
  }

  return {
    reader: reader.connection,
    isShared: false,
    includes: (handle) => fileOf(handle) === file,
    writer() {
      writer ??= connected(open(), WRITER_SETTINGS)
      // Retried until it succeeds: the file cannot leave the old mode while others read in it.
      if (!isWal) writer.connection.exec('pragma journal_mode = wal')
      isWal = true
      return { connection: writer.connection, handle: asHosts(writer.handle) }
    },
    discardWriter,
    close() {
      close(reader)
      discardWriter()
    },
  }
}

/** A database in memory, or a temporary one: no one else can reach it. @param end - closes the handle, if it is ours */
function shared<H extends SqliteHandle>(
  handle: H,
  owner: 'us' | 'host',
  end: () => unknown = () => undefined,
): ReaderAndWriter<H> {
  const connection = new Connection(handle, 'call', owner)
  return {
    reader: connection,
    isShared: true,
    includes: (other) => other === handle,
    writer: () => ({ connection, handle }),
    discardWriter: () => rollBack(handle),
    close() {
      connection.end()
      end()
    },
  }
}

/** Configures a new connection. If that fails, the connection is closed again. */
function connected(handle: OwnHandle, settings: string): Writer<OwnHandle> {
  const connection = new Connection(handle, 'call', 'us')
  try {
    connection.exec(settings)
    return { handle, connection }
  } catch (error) {
    handle.close()
    throw error
  }
}

function close({ handle, connection }: Writer<OwnHandle>): void {
  connection.end()
  handle.close()
}

function rollBack(handle: SqliteHandle): void {
  try {
    execAnyway(handle, 'rollback')
  } catch {
    // What failed has ended the transaction already.
  }
}

/** Returns a handle that the storage opened, with the type of the host's handle. */
function asHosts<H extends SqliteHandle>(handle: OwnHandle): H {
  const ours: SqliteHandle = handle
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host's constructor, or by better-sqlite3
  return ours as H
}

/**
 * Returns warnings about settings of the host's handle that endanger data committed on it. The storage does not change
 * the settings of a handle that it does not own.
 */
function warningsAbout(handle: SqliteHandle): readonly string[] {
  const synchronous = setting(handle, 'synchronous')
  if (synchronous === undefined || synchronous >= 2) return []

  return [
    `the host's handle has synchronous = ${synchronous}: changes of withTransactionSync may be lost when the power fails; ` +
      'set pragma synchronous = full',
  ]
}
