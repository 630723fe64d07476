import { closedError } from '../../../schema/errors.ts'
import { runSync } from '../../../schema/sync-or-async.ts'
import type { SchemaStatus } from '../../contract/storage.ts'
import { migrateAtOnce } from '../schema/migrate-at-once.ts'
import type { Schema } from '../schema/schema.ts'
import { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { databaseExists, openConnections } from './connections.ts'
import type { SqliteHandle } from './handle.ts'
import { inTransaction, transactionOn } from './transactions.ts'

/** One database with our tables: opened at its first use, looked at once, closed at the end. */
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

  /** The host's handle, when the storage was given one. */
  get hostHandle(): H | undefined {
    return typeof this.#database === 'string' ? undefined : this.#database
  }

  /**
   * The connections to a database whose tables are fit to use.
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

  /** Brings the tables up to date. Nothing is written before it is known that this library may. */
  migrate(): void {
    this.#look((connections) => {
      if (connections.shared && transactionOn(connections.writerHandle) === 'open') {
        throw new TypeError('the handle is inside a transaction: end it before migrate()')
      }
      const needed = runSync(this.#schema.needsMigration(connections.reader))
      if (needed) inTransaction(connections, (writer) => runSync(migrateAtOnce(this.#schema, writer)))
    })
  }

  /** How the tables are; writes nothing. */
  status(): SchemaStatus {
    this.#refuseEnded()
    if (!databaseExists(this.#database)) return { state: 'empty', warnings: [] }

    return this.#look(({ reader, shared }) => {
      const state = runSync(this.#schema.state(reader))
      return { state, warnings: shared || this.hostHandle === undefined ? [] : warningsAbout(this.hostHandle) }
    })
  }

  /** Takes no new calls from now on; what was called before may still connect. */
  beginClosing(): void {
    if (this.#life === 'open') this.#life = 'closing'
  }

  /** Closes what we opened, for good. */
  end(): void {
    this.#life = 'ended'
    this.#close()
  }

  /** @throws ForgeError `STORAGE_UNAVAILABLE` for a new call once it is closing */
  refuseClosing(): void {
    if (this.#life !== 'open') throw closed()
  }

  /** Looks at a database that may not be fit to use; when it fails, no connection stays open on it. */
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

/** What of the host's handle endangers what is committed on it: we do not change the settings of a handle that is not ours. */
function warningsAbout(handle: SqliteHandle): readonly string[] {
  const synchronous = setting(handle, 'synchronous')
  if (synchronous === undefined || synchronous >= 2) return []

  return [
    `the host's handle has synchronous = ${synchronous}: what joinSync wrote may be lost when the power fails; ` +
      'set pragma synchronous = full',
  ]
}

function setting(handle: SqliteHandle, name: string): number | undefined {
  const [row] = new Connection(handle, 'call', 'host').all({ sql: `pragma ${name}`, parameters: [], returnsRows: true })
  if (typeof row !== 'object' || row === null) return undefined

  const [value]: readonly unknown[] = Object.values(row)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}
