import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { runSync } from '../../../schema/sync-or-async.ts'
import type { SchemaStatus } from '../../contract/storage.ts'
import type { Schema } from '../schema/schema.ts'
import type { SqliteHandle } from './connection.ts'
import { Connection } from './connection.ts'
import type { OwnHandle } from './handle.ts'
import { execAnyway, fileOf, isHandle, isInTransaction, openAnother, openWithBetterSqlite3, setting } from './handle.ts'

/** A connection, and its handle: of the writer, the transaction that the host's `beforeCommit` receives. */
export interface Opened<H> {
  readonly handle: H
  readonly connection: Connection
  /** Closes the handle, if it is ours. */
  close(): void
}

/**
 * One database with our tables: a writer and a reader of our own on a file, so that no reader waits for a writer; or the one
 * connection to a database in memory. It is opened at its first use, and checked once.
 */
export class SqliteDatabase<H extends SqliteHandle> {
  /** The host's handle, if the storage was given one. */
  readonly hostHandle: H | undefined
  readonly #file: string
  readonly #schema: Schema
  #reader: Opened<H> | undefined
  #writer: Opened<H> | undefined
  /** The file of the open reader, as SQLite names it. */
  #openFile = ''
  #isWal = false
  #isUsable = false

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

  /** Whether the open database is in memory, or a temporary one: the reader is the writer, and no one else can reach it. */
  get isShared(): boolean {
    return this.#openFile === ''
  }

  /**
   * Returns the connection to read on. Its tables can be used.
   * @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`, `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
   */
  reader(): Connection {
    if (this.#isUsable && this.#reader !== undefined) return this.#reader.connection
    if (!this.#exists()) throw this.#schema.outdated()

    return this.look(({ connection }) => {
      runSync(this.#schema.refuseUnusable(connection))
      this.#isUsable = true
      return connection
    })
  }

  /**
   * Runs work in a transaction of the writer that has the write lock from the start. If anything fails behind BEGIN, no
   * transaction stays open, and the next one has another writer.
   * @throws what the work throws, what `reader` throws
   */
  write<T>(work: (writer: Opened<H>) => T): T {
    this.reader()
    return this.#transact(work)
  }

  /** Migrates tables: ours, or those of a host. Nothing is written before the version check has passed. */
  migrate(tables: Schema): void {
    this.look(({ connection, handle }) => {
      if (this.isShared && isInTransaction(handle)) {
        throw new TypeError('the handle is inside a transaction: end it before migrate()')
      }
      if (!runSync(tables.needsMigration(connection))) return

      this.#transact((writer) => runSync(tables.complete(writer.connection)))
    })
  }

  /** Runs work on a database that may not be usable. If the work fails, no connection stays open on such a database. */
  look<T>(work: (reader: Opened<H>) => T): T {
    this.#reader ??= this.#openReader()
    try {
      return work(this.#reader)
    } catch (error) {
      if (!this.#isUsable) this.close()
      throw error
    }
  }

  /** Returns the state of the tables. Writes nothing. */
  status(): SchemaStatus {
    if (!this.#exists()) return { state: 'empty', warnings: [] }

    return this.look(({ connection }) => {
      const state = runSync(this.#schema.state(connection))
      return { state, warnings: this.isShared || this.hostHandle === undefined ? [] : warningsAbout(this.hostHandle) }
    })
  }

  /** Returns whether a handle is open on the database. */
  includes(handle: H): boolean {
    this.reader()
    return this.isShared ? handle === this.#reader?.handle : fileOf(handle) === this.#openFile
  }

  /** Gives the next change another writer. A transaction on the one connection to a database in memory may be the host's. */
  replaceWriter(): void {
    if (!this.isShared) this.#discardWriter()
  }

  /** Closes what the storage opened. */
  close(): void {
    this.#isUsable = false
    this.#reader?.close()
    this.#reader = undefined
    this.replaceWriter()
  }

  #transact<T>(work: (writer: Opened<H>) => T): T {
    const writer = this.#openWriter()
    writer.connection.command('begin immediate')
    try {
      const value = work(writer)
      writer.connection.command('commit')
      return value
    } catch (error) {
      this.#discardWriter()
      throw error
    }
  }

  #openReader(): Opened<H> {
    const { hostHandle } = this
    this.#openFile = hostHandle === undefined ? '' : fileOf(hostHandle)
    if (hostHandle !== undefined && this.isShared) {
      const connection = new Connection(hostHandle, 'call', 'host')
      return { handle: hostHandle, connection, close: () => connection.end() }
    }
    if (this.#file === IN_MEMORY) return this.#open('pragma foreign_keys = on')

    const reader = this.#open(READER_SETTINGS)
    this.#openFile = fileOf(reader.handle)
    return reader
  }

  #openWriter(): Opened<H> {
    if (this.isShared) return this.look((reader) => reader)

    this.#writer ??= this.#open(WRITER_SETTINGS)
    // Retried until it succeeds: the file cannot leave the old mode while others read in it.
    if (!this.#isWal) this.#writer.connection.exec('pragma journal_mode = wal')
    this.#isWal = true
    return this.#writer
  }

  /** Opens one more handle. If its settings fail, it is closed again. */
  #open(settings: string): Opened<H> {
    const { hostHandle } = this
    const handle =
      hostHandle === undefined ? openWithBetterSqlite3(this.#file) : openAnother(hostHandle, this.#openFile)
    const connection = new Connection(handle, 'call', 'us')
    try {
      connection.exec(settings)
    } catch (error) {
      handle.close()
      throw error
    }
    const close = (): void => {
      connection.end()
      handle.close()
    }
    return { handle: asHosts(handle), connection, close }
  }

  /** Ends the transaction of the writer, and the writer if it is not the reader. */
  #discardWriter(): void {
    const discarded = this.isShared ? this.#reader : this.#writer
    if (discarded === undefined) return

    this.#writer = undefined
    attempt(() => execAnyway(discarded.handle, 'rollback')) // what failed may have ended the transaction already
    // The host may have a statement open on it: the handle goes with that statement.
    if (!this.isShared) attempt(() => discarded.close())
  }

  #exists(): boolean {
    return this.hostHandle !== undefined || this.#file === IN_MEMORY || existsSync(this.#file)
  }
}

const IN_MEMORY = ':memory:'

function absolute(file: string): string {
  const name = file.trim() // better-sqlite3 trims the name too
  if (name === '') throw new TypeError('the file name is empty: name a file, or use :memory:')
  return name === IN_MEMORY ? name : resolve(name)
}

const READER_SETTINGS = 'pragma busy_timeout = 0; pragma query_only = on'

/**
 * With `temp_store = memory`, SQLite keeps the pages that a savepoint may have to restore in memory. Otherwise it writes
 * them to a temporary file once they exceed 64 KB, which a batch of changes does, and a change then costs half as much
 * again.
 */
const WRITER_SETTINGS =
  'pragma busy_timeout = 0; pragma foreign_keys = on; pragma synchronous = full; pragma temp_store = memory'

/** Runs work that may fail. */
function attempt(work: () => unknown): void {
  try {
    work()
  } catch {
    // Nothing depends on it.
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
  if (synchronous >= 2) return []

  return [
    `the host's handle has synchronous = ${synchronous}: changes of withTransactionSync may be lost when the power fails; ` +
      'set pragma synchronous = full',
  ]
}
