import { hasMethods } from '../schema/arguments.ts'
import { closedError } from '../schema/errors.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { runSync } from '../schema/sync-or-async.ts'
import type { ForgeStorage } from './contract/storage.ts'
import type { SqlStorageOptions } from './sql/context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from './sql/context.ts'
import { sqliteDialect } from './sql/dialects/sqlite.ts'
import { Schema } from './sql/schema/schema.ts'
import type { SqlRuntime } from './sql/session.ts'
import { Connection } from './sql/sqlite/connection.ts'
import type { SqliteHandle } from './sql/sqlite/drivers.ts'
import { createSqlStores } from './sql/stores/stores.ts'

export type { SqlStorageOptions } from './sql/context.ts'
export type { IdColumn } from './sql/dialect.ts'
export type { IdColumns } from './sql/ids.ts'

/**
 * A storage in the SQLite of a Cloudflare Durable Object: `durableObjectStorage(ctx.storage)`. It needs no Node
 * built-in, and so no compatibility flag. It runs nothing before the first use. Only `migrate()` creates tables; call
 * it in the object's constructor inside `ctx.blockConcurrencyWhile`. `sqliteSchemaPlan()` of `forgelet/storage/sqlite`
 * returns the statements, with a BEGIN and COMMIT that a Durable Object refuses.
 *
 * A change is written when its call returns, and Cloudflare lets nothing leave the object before the change is on disk.
 *
 * Transactions are `ctx.storage.transactionSync`. Only the call stack shows whether one is open:
 *
 * - Inside one, `forge.withTransactionSync(ctx.storage, work)` is part of it: the work is rolled back with it, and a
 *   call that is refused is rolled back alone. Outside of one, `withTransactionSync` rolls back only the calls that are
 *   refused; what it wrote is committed with everything else that the object writes before it next waits.
 * - A plain call made inside one runs after it, and is not part of it.
 * - The storage cannot detect an asynchronous `ctx.storage.transaction`: a call made while its work waits is part of
 *   it. Inside it, call the forge only through `withTransactionSync`.
 *
 * @param database - `ctx.storage` of an object whose class has SQLite (`new_sqlite_classes`: without it the first call
 * fails with the object's own error); `beforeCommit` receives it too
 * @throws TypeError if an option or the storage is invalid. Every call: ForgeError `SCHEMA_OUTDATED` before
 * `migrate()`, `SCHEMA_TOO_NEW`, `STORAGE_UNAVAILABLE` if the object is full; TypeError if an id does not fit its
 * column
 */
export function durableObjectStorage<S extends DurableObjectDatabase>(
  database: S,
  options: SqlStorageOptions = {},
): ForgeStorage<S> {
  // The storage of an object without SQLite reports that itself when it is used.
  if (!hasMethods(database, 'transactionSync') || !('sql' in database)) {
    throw new TypeError('a Durable Object storage needs the ctx.storage of a Durable Object')
  }
  checkStorageOptions('durableObjectStorage', options, SQL_OPTIONS)
  const context = createSqlContext(sqliteDialect, options)
  const schema = new Schema(context)
  const connection = new ObjectConnection(database)
  let isUsable = false
  let isClosed = false
  let isChanging = false

  /** A change that is made from inside another would be part of it. */
  function refuseInside(): void {
    if (isChanging) throw new TypeError('beforeCommit must not change the forge: its change is still open')
  }

  /** Returns the connection after a check of the tables. */
  function usable(): Connection {
    if (!isUsable) runSync(schema.refuseUnusable(connection))
    isUsable = true
    return connection
  }

  function connectionOf(transaction: S): Connection {
    if (isClosed) throw closedError('the storage is closed')
    if (transaction === database) return usable()
    throw new TypeError('the transaction must be the ctx.storage of the storage')
  }

  /** Runs work a turn later: no transaction of the host outlasts the turn in which it began, so it is never part of one. */
  async function later<T>(work: () => MaybePromise<T>): Promise<T> {
    if (isClosed) throw closedError('the storage is closed')
    await null
    return work()
  }

  /** Runs work all or nothing. If the host has a transaction open, the work is part of it. */
  function change<T>(work: () => SyncOrAsync<T>): T {
    isChanging = true
    try {
      return database.transactionSync(() => runSync(work()))
    } finally {
      isChanging = false
    }
  }

  const runtime: SqlRuntime<S> = {
    read: (work, transaction) =>
      transaction === undefined ? later(() => work(usable())) : work(connectionOf(transaction)),
    write(work, { transaction, signal }) {
      refuseInside()
      const attempt = () => {
        signal?.throwIfAborted()
        return change(() => work(usable(), database))
      }
      if (transaction === undefined) return later(attempt)
      connectionOf(transaction)
      return attempt()
    },
  }

  return {
    ...createSqlStores(context, runtime),
    transactions: 'synchronous',
    checkTransaction(transaction) {
      refuseInside()
      connectionOf(transaction)
    },
    migrate: () =>
      later(() => {
        if (runSync(schema.needsMigration(connection))) change(() => schema.complete(connection))
      }),
    schemaStatus: () => later(() => runSync(schema.status(connection))),
    async close() {
      isClosed = true
    },
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

/** The single connection of a Durable Object. The runtime keeps statements prepared, by their text. */
class ObjectConnection extends Connection {
  constructor({ sql }: DurableObjectDatabase) {
    const prepare: SqliteHandle['prepare'] = (text) => {
      const rows = (...bindings: readonly unknown[]): unknown[] => sql.exec(text, ...bindings).toArray()
      return { all: rows, get: (...bindings) => rows(...bindings)[0], run: rows }
    }
    super({ prepare, exec: (text) => sql.exec(text).toArray() }, 'call')
  }

  /** An object refuses savepoints, and code of the host cannot leave a transaction that is a call. */
  override runHostCode<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return work()
  }
}
