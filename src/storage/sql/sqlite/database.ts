import { existsSync, statSync } from 'node:fs'
import { runSync } from '../../../schema/sync-or-async.ts'
import type { SchemaStatus } from '../../contract/storage.ts'
import type { SqlStorageOptions } from '../context.ts'
import { unavailable } from '../errors.ts'
import type { Schema } from '../schema/schema.ts'
import { Connection } from './connection.ts'
import type { SqliteHandle } from './drivers.ts'
import { driverOf } from './drivers.ts'
import type { OpenHandle, OwnHandle } from './handle.ts'
import {
  absoluteFile,
  fileOf,
  IN_MEMORY,
  isHandle,
  openAnother,
  openWithBetterSqlite3,
  refuseExclusive,
  refuseOther,
  setting,
} from './handle.ts'

/** The options of a storage in SQLite. */
export interface SqliteStorageOptions<H extends SqliteHandle = SqliteHandle> extends SqlStorageOptions {
  /**
   * Opens one more handle on the file of the handle that the storage was given, in the same way: with its key, for example.
   * The storage calls it for its own writer and reader, and closes them. Default: `new handle.constructor(file)`.
   */
  readonly open?: ((file: string) => H) | undefined
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
  readonly #openHandle: OpenHandle | undefined
  #reader: Connection<H> | undefined
  #writer: Connection<H> | undefined
  /** The file of the open reader, as SQLite names it. */
  #openFile = ''
  /** The device and the inode of that file. */
  #identity: string | undefined
  #isWal = false
  #isUsable = false

  /**
   * @param given - an open handle, or a file; the file stays the same if the process changes its directory
   * @param open - opens another handle beside that of the host
   * @throws TypeError if it is neither
   */
  constructor(given: string | H, schema: Schema, open: OpenHandle | undefined) {
    this.hostHandle = typeof given === 'string' ? undefined : given
    this.#file = typeof given === 'string' ? absoluteFile(given) : ''
    this.#schema = schema
    this.#openHandle = open
    if (typeof given !== 'string' && !isHandle(given)) {
      throw new TypeError('an SQLite storage needs a file name or an open handle')
    }
  }

  /** Whether the open database is in memory, or a temporary one: the reader is the writer, and no one else can reach it. */
  get isShared(): boolean {
    return this.#openFile === ''
  }

  /** Whether the tables can be used: they were checked. */
  get isUsable(): boolean {
    return this.#isUsable && this.#reader !== undefined
  }

  /**
   * Returns the connection to read on. Its tables can be used.
   * @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`, `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
   */
  reader(): Connection {
    if (this.#isUsable && this.#reader !== undefined) return this.#reader
    if (!this.#exists()) throw this.#schema.outdated()

    return this.withReader((reader) => {
      runSync(this.#schema.refuseUnusable(reader))
      this.#isUsable = true
      return reader
    })
  }

  /**
   * Runs work in a transaction of the writer that has the write lock from the start. If anything fails behind BEGIN, no
   * transaction stays open, and the next one has another writer.
   * @throws what the work throws, what `reader` throws
   */
  write<T>(work: (writer: Connection<H>) => T): T {
    this.reader()
    return this.transact(work)
  }

  /** Migrates tables: ours, or those of a host. Nothing is written before the version check has passed. */
  migrate(tables: Schema): void {
    const { hostHandle } = this
    if (hostHandle !== undefined && driverOf(hostHandle).isInTransaction()) {
      throw new TypeError('the handle is inside a transaction: end it before migrate()')
    }
    // A key is that of the handle that writes the first page, and handles that were opened before that never see the page.
    if (hostHandle !== undefined && !this.#exists()) new Connection(hostHandle, 'call').exec('begin immediate; commit')
    this.withReader((reader) => {
      if (runSync(tables.needsMigration(reader))) this.transact((writer) => runSync(tables.complete(writer)))
    })
  }

  /**
   * Runs work on a database that may not be usable. If the work fails, no connection stays open on such a database.
   * @throws ForgeError `STORAGE_UNAVAILABLE` if the path now leads to another file: what is written would be lost
   */
  withReader<T>(work: (reader: Connection<H>) => T): T {
    this.#reader ??= this.#openReader()
    try {
      if (this.#identity !== undefined && identityOf(this.#openFile) !== this.#identity) throw unavailable(OTHER_FILE)
      return work(this.#reader)
    } catch (error) {
      if (!this.#isUsable) this.close()
      throw error
    }
  }

  /** Returns the state of the tables. Writes nothing. */
  status(): SchemaStatus {
    if (!this.#exists()) return { state: 'empty', warnings: [] }

    return this.withReader((reader) => {
      const { state, warnings } = runSync(this.#schema.status(reader))
      const isHosts = !this.isShared && this.hostHandle !== undefined
      return { state, warnings: isHosts ? [...warnings, ...warningsAbout(this.hostHandle)] : warnings }
    })
  }

  /** Returns whether a handle is open on the database. */
  includes(handle: H): boolean {
    return this.withReader((reader) => (this.isShared ? handle === reader.handle : fileOf(handle) === this.#openFile))
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

  /** Same, whatever the state of the tables. */
  transact<T>(work: (writer: Connection<H>) => T): T {
    this.withReader(() => undefined) // only then it is known whether the writer is the reader
    const writer = this.#openWriter()
    writer.command('begin immediate')
    try {
      const value = work(writer)
      writer.command('commit')
      return value
    } catch (error) {
      this.#discardWriter()
      throw error
    }
  }

  #openReader(): Connection<H> {
    const { hostHandle } = this
    this.#openFile = hostHandle === undefined ? '' : fileOf(hostHandle)
    if (hostHandle !== undefined && this.isShared) return new Connection(hostHandle, 'call')
    if (hostHandle !== undefined) refuseExclusive(hostHandle)
    if (this.#file === IN_MEMORY) return this.#open('pragma foreign_keys = on')

    const reader = this.#open(READER_SETTINGS)
    try {
      if (hostHandle !== undefined) {
        refuseExclusive(reader.handle)
        refuseOther(hostHandle, reader.handle)
      }
      this.#openFile = fileOf(reader.handle)
      this.#identity = identityOf(this.#openFile)
      return reader
    } catch (error) {
      reader.close()
      throw error
    }
  }

  #openWriter(): Connection<H> {
    if (this.isShared) return this.withReader((reader) => reader)

    this.#writer ??= this.#open(WRITER_SETTINGS)
    // Retried until it succeeds: the file cannot leave the old mode while others read in it.
    if (!this.#isWal) this.#writer.exec('pragma journal_mode = wal')
    this.#isWal = true
    return this.#writer
  }

  /** Opens one more handle. If its settings fail, it is closed again. */
  #open(settings: string): Connection<H> {
    const { hostHandle } = this
    const handle: OwnHandle =
      hostHandle === undefined
        ? openWithBetterSqlite3(this.#file)
        : openAnother(hostHandle, this.#openFile, this.#openHandle)
    const ours: SqliteHandle = handle
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host's constructor or `open`, or by better-sqlite3
    const connection = new Connection(ours as H, 'call', () => handle.close())
    try {
      connection.exec(settings)
    } catch (error) {
      connection.close()
      throw error
    }
    return connection
  }

  /** Ends the transaction of the writer, and the writer if it is not the reader. */
  #discardWriter(): void {
    const discarded = this.isShared ? this.#reader : this.#writer
    if (discarded === undefined) return

    this.#writer = undefined
    attempt(() => discarded.rollback()) // what failed may have ended the transaction already
    // The host may have a statement open on it: the handle goes with that statement.
    if (!this.isShared) attempt(() => discarded.close())
  }

  /** Returns whether there is something to read. The file of a handle of the host may be empty still. */
  #exists(): boolean {
    if (this.#reader !== undefined || this.#file === IN_MEMORY) return true
    if (this.hostHandle === undefined) return existsSync(this.#file)
    const file = fileOf(this.hostHandle)
    return file === '' || statSync(file, { throwIfNoEntry: false })?.size !== 0
  }
}

const READER_SETTINGS = 'pragma busy_timeout = 0; pragma query_only = on'

/**
 * With `temp_store = memory`, SQLite keeps the pages that a savepoint may have to restore in memory. Otherwise it writes
 * them to a temporary file once they exceed 64 KB, which a batch of changes does, and a change then costs half as much
 * again. Of the pages of a file it keeps 2 MB, as SQLite does by itself: better-sqlite3 would keep 16 MB, which a large
 * import fills and which makes it no faster.
 */
const WRITER_SETTINGS =
  'pragma busy_timeout = 0; pragma foreign_keys = on; pragma synchronous = full; pragma temp_store = memory; pragma cache_size = -2000'

const OTHER_FILE = 'the database file was replaced, moved or deleted while it was open: start the process again'

/** Returns the device and the inode of a file. Undefined if the path leads to no file. */
function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file)
    return `${dev}:${ino}`
  } catch {
    return undefined // also where a folder may not be searched any more: the error would name the path
  }
}

/** Runs work that may fail. */
function attempt(work: () => unknown): void {
  try {
    work()
  } catch {
    // Nothing depends on it.
  }
}

/**
 * Returns warnings about settings of the host's handle that endanger data committed on it. The storage does not change
 * the settings of a handle that it does not own.
 */
function warningsAbout(handle: SqliteHandle): readonly string[] {
  const synchronous = Number(setting(handle, 'synchronous'))
  if (synchronous >= 2) return []

  return [
    `the host's handle has synchronous = ${synchronous}: changes of withTransactionSync may be lost when the power fails; ` +
      'set pragma synchronous = full',
  ]
}
