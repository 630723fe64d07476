import { closedError } from '../../../schema/errors.ts'
import { runSync } from '../../../schema/sync-or-async.ts'
import type { SchemaStatus } from '../../contract/storage.ts'
import { migrateAtOnce } from '../schema/migrate-at-once.ts'
import type { Schema } from '../schema/schema.ts'
import { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { databaseExists, openConnections } from './connections.ts'
import type { SqliteHandle } from './handle.ts'
import { inTransaction, isInTransaction } from './transactions.ts'

/** One database with our tables. It is opened at its first use, checked once, and closed at the end. */
export class SqliteDatabase<H extends SqliteHandle> {
  readonly #database: string | H
  readonly #schema: Schema
  #connections: Connections<H> | undefined
  #usable = false
  #life: 'open' | 'closing' | 'ended' = 'open'

  constructor(database: string | H, schema: Schema) {
    this.#database = database
    this.#schema = schema
  }

  /** The host's handle, if the storage was given one. */
  get hostHandle(): H | undefined {
    return typeof this.#database === 'string' ? undefined : this.#database
  }

  /**
   * Returns the connections to a database whose tables can be used.
   * @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`, `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
   */
  connect(): Connections<H> {
    if (this.#usable && this.#connections !== undefined) return this.#connections
    this.#refuseEnded()
    if (!databaseExists(this.#database)) throw this.#schema.missing()

    return this.#look((connections) => {
      runSync(this.#schema.refuseUnusable(connections.reader))
      this.#usable = true
      return connections
    })
  }

  /** Migrates the tables. Nothing is written before the version check has passed. */
  migrate(): void {
    this.#look((connections) => {
      if (connections.shared && isInTransaction(connections.writerHandle)) {
        throw new TypeError('the handle is inside a transaction: end it before migrate()')
      }
      const needed = runSync(this.#schema.needsMigration(connections.reader))
      if (needed) inTransaction(connections, (writer) => runSync(migrateAtOnce(this.#schema, writer)))
    })
  }

  /** Returns the state of the tables. Writes nothing. */
  status(): SchemaStatus {
    this.#refuseEnded()
    if (!databaseExists(this.#database)) return { state: 'empty', warnings: [] }

    return this.#look(({ reader, shared }) => {
      const state = runSync(this.#schema.state(reader))
      return { state, warnings: shared || this.hostHandle === undefined ? [] : warningsAbout(this.hostHandle) }
    })
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

  /** Runs work on a database that may not be usable. If the work fails, no connection stays open on such a database. */
  #look<T>(work: (connections: Connections<H>) => T): T {
    this.#refuseEnded()
    this.#connections ??= openConnections(this.#database)
    try {
      return work(this.#connections)
    } catch (error) {
      if (!this.#usable) this.#close()
      throw error
    }
  }

  #refuseEnded(): void {
    if (this.#life === 'ended') throw closed()
  }

  #close(): void {
    this.#usable = false
    this.#connections?.close()
    this.#connections = undefined
  }
}

function closed(): Error {
  return closedError('the storage is closed')
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

function setting(handle: SqliteHandle, name: string): number | undefined {
  const [row] = new Connection(handle, 'call', 'host').all({ sql: `pragma ${name}`, parameters: [], returnsRows: true })
  if (typeof row !== 'object' || row === null) return undefined

  const [value]: readonly unknown[] = Object.values(row)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}
