import { closedError } from '../../schema/errors.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { requireValue, runSync } from '../../schema/sync-or-async.ts'
import type { ForgeStorage, SchemaStatus } from '../contract/storage.ts'
import type { SqlStorageOptions } from './context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from './context.ts'
import { sqliteDialect } from './dialects/sqlite.ts'
import type { Statement } from './query.ts'
import { Schema } from './schema/schema.ts'
import type { Session, SqlRuntime, WriteCircumstances } from './session.ts'
import { translateError } from './sqlite/errors.ts'
import { createSqlStores } from './stores/stores.ts'

/**
 * Creates a storage in the SQLite of a Durable Object. Nothing runs there before its first use. @throws TypeError if an
 * option is invalid
 */
export function createDurableObjectStorage<S extends DurableObjectDatabase>(
  database: S,
  options: SqlStorageOptions = {},
): ForgeStorage<S> {
  refuseOthers(database)
  checkStorageOptions('durableObjectStorage', options, SQL_OPTIONS)
  const context = createSqlContext(sqliteDialect, options)
  const runtime = new DurableObjectRuntime(database, new Schema(context))

  return {
    ...createSqlStores(context, runtime),
    transactions: 'synchronous',
    checkTransaction: (transaction) => runtime.checkTransaction(transaction),
    migrate: () => runtime.migrate(),
    schemaStatus: () => runtime.status(),
    onWarning: () => undefined,
    close: async () => runtime.close(),
  }
}

/**
 * Runs the work of the stores in a Durable Object. The storage cannot detect whether a transaction of the host is open
 * there, but no transaction outlasts the turn in which it began. Plain calls therefore run a turn later, and never
 * become part of one.
 */
class DurableObjectRuntime<S extends DurableObjectDatabase> implements SqlRuntime<S> {
  /** Those of `ctx.storage.transaction` stay open while the host waits. */
  readonly seesUncommitted = true
  readonly #database: S
  readonly #schema: Schema
  readonly #session: DurableObjectSession
  #usable = false
  #closed = false
  #changing = false

  constructor(database: S, schema: Schema) {
    this.#database = database
    this.#schema = schema
    this.#session = new DurableObjectSession(database)
  }

  /** Same as the storage's `checkTransaction`. */
  checkTransaction(transaction: S): void {
    this.#refuseInside()
    this.#reach(transaction)
  }

  read<T>(work: (session: Session) => MaybePromise<T>, transaction: S | undefined): MaybePromise<T> {
    if (transaction === undefined) return this.#later(() => requireValue(work(this.#usableSession())))

    this.#reach(transaction)
    return requireValue(work(this.#session))
  }

  /** Nothing else runs between two statements of one turn. */
  readSnapshot<T>(work: (session: Session) => SyncOrAsync<T>, transaction: S | undefined): MaybePromise<T> {
    return this.read((session) => runSync(work(session)), transaction)
  }

  write<T>(
    work: (session: Session, open: S) => SyncOrAsync<T>,
    { transaction, signal }: WriteCircumstances<S>,
  ): MaybePromise<T> {
    this.#refuseInside()
    const change = (): T => {
      signal?.throwIfAborted()
      return this.#change(() => work(this.#usableSession(), this.#database))
    }
    if (transaction === undefined) return this.#later(change)

    this.#reach(transaction)
    return change()
  }

  /** Migrates the tables. */
  migrate(): Promise<void> {
    return this.#later(() => {
      if (runSync(this.#schema.needsMigration(this.#session))) {
        this.#change(() => this.#schema.complete(this.#session))
      }
    })
  }

  /** Returns the state of the tables. Writes nothing. */
  status(): Promise<SchemaStatus> {
    return this.#later(() => ({ state: runSync(this.#schema.state(this.#session)), warnings: [] }))
  }

  /** Refuses new calls from now on. Earlier calls are still answered. */
  close(): void {
    this.#closed = true
  }

  /** Runs work all or nothing. If the host has a transaction open, the work is part of it. */
  #change<T>(work: () => SyncOrAsync<T>): T {
    this.#changing = true
    try {
      return this.#database.transactionSync(() => runSync(work()))
    } finally {
      this.#changing = false
    }
  }

  async #later<T>(work: () => T): Promise<T> {
    this.#refuseClosed()
    await null
    return work()
  }

  /** Checks the transaction. @throws TypeError if it is not the storage of this object */
  #reach(transaction: S): void {
    this.#refuseClosed()
    if (transaction !== this.#database) {
      throw new TypeError('the transaction must be the ctx.storage of the storage')
    }
    this.#usableSession()
  }

  /** Returns the session after a check of the tables. @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW` */
  #usableSession(): Session {
    if (!this.#usable) runSync(this.#schema.refuseUnusable(this.#session))
    this.#usable = true
    return this.#session
  }

  #refuseClosed(): void {
    if (this.#closed) throw closedError('the storage is closed')
  }

  /** A change that is made from inside another would be part of it. */
  #refuseInside(): void {
    if (this.#changing) throw new TypeError('beforeCommit must not change the forge: its change is still open')
  }
}

/** The storage of a Durable Object (`ctx.storage`), with the calls that are made on it. All of them are synchronous. */
export interface DurableObjectDatabase {
  readonly sql: {
    /** Runs a statement with its parameters. Integers are returned as numbers. */
    exec(
      query: string,
      ...bindings: unknown[]
    ): {
      /** Returns every row, as an object by column name. */
      toArray(): unknown[]
    }
  }
  /** Runs work all or nothing. Inside another such call the work is part of that. */
  transactionSync<T>(work: () => T): T
}

/**
 * Checks the shape of the value. @throws TypeError if it is not such a storage. The storage of an object without SQLite
 * reports that itself when it is used.
 */
function refuseOthers(value: unknown): void {
  if (typeof value !== 'object' || value === null || !('transactionSync' in value) || !('sql' in value)) {
    throw new TypeError('a Durable Object storage needs the ctx.storage of a Durable Object')
  }
}

/** The single connection of a Durable Object. The runtime keeps statements prepared, by their text. */
class DurableObjectSession implements Session {
  readonly #database: DurableObjectDatabase

  constructor(database: DurableObjectDatabase) {
    this.#database = database
  }

  all<Row>({ sql, parameters }: Statement<Row>): readonly Row[] {
    try {
      const rows: readonly unknown[] = this.#database.sql.exec(sql, ...parameters).toArray()
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
      return rows as readonly Row[]
    } catch (error) {
      throw translateError(error, 'call')
    }
  }

  first<Row>(statement: Statement<Row>): Row | undefined {
    const [row] = this.all(statement)
    return row
  }

  batch(statements: readonly Statement<unknown>[]): readonly (readonly unknown[])[] {
    return statements.map((statement) => this.all(statement))
  }

  /** Runs the statement at once: nothing is gained by waiting. */
  defer<Row>(statement: Statement<Row>, check?: (rows: readonly Row[]) => void): void {
    const rows = this.all(statement)
    check?.(rows)
  }

  /** Nothing else runs meanwhile: calls that the host may not make are refused where it makes them. */
  lend<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return work()
  }
}
