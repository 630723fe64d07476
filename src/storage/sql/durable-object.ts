import { closedError } from '../../schema/errors.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { runSync } from '../../schema/sync-or-async.ts'
import type { ForgeStorage } from '../contract/storage.ts'
import type { SqlStorageOptions } from './context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from './context.ts'
import { sqliteDialect } from './dialects/sqlite.ts'
import { Schema } from './schema/schema.ts'
import type { Session, SqlRuntime } from './session.ts'
import type { SqliteHandle } from './sqlite/connection.ts'
import { Connection } from './sqlite/connection.ts'
import { createSqlStores } from './stores/stores.ts'

/**
 * Creates a storage in the SQLite of a Durable Object. Nothing runs there before its first use.
 *
 * The storage cannot detect whether a transaction of the host is open there, but no transaction outlasts the turn in
 * which it began. Plain calls therefore run a turn later, and never become part of one.
 *
 * @throws TypeError if an option is invalid
 */
export function createDurableObjectStorage<S extends DurableObjectDatabase>(
  database: S,
  options: SqlStorageOptions = {},
): ForgeStorage<S> {
  refuseOthers(database)
  checkStorageOptions('durableObjectStorage', options, SQL_OPTIONS)
  const context = createSqlContext(sqliteDialect, options)
  const schema = new Schema(context)
  const connection = new ObjectConnection(database)
  let isUsable = false
  let isClosed = false
  let isChanging = false

  function refuseClosed(): void {
    if (isClosed) throw closedError('the storage is closed')
  }

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
    refuseClosed()
    if (transaction === database) return usable()
    throw new TypeError('the transaction must be the ctx.storage of the storage')
  }

  async function later<T>(work: () => MaybePromise<T>): Promise<T> {
    refuseClosed()
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

  function read<T>(work: (session: Session) => MaybePromise<T>, transaction: S | undefined): MaybePromise<T> {
    return transaction === undefined ? later(() => work(usable())) : work(connectionOf(transaction))
  }

  const runtime: SqlRuntime<S> = {
    read,
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
    schemaStatus: () => later(() => ({ state: runSync(schema.state(connection)), warnings: [] })),
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
class ObjectConnection extends Connection {
  constructor({ sql }: DurableObjectDatabase) {
    const prepare: SqliteHandle['prepare'] = (text) => {
      const rows = (...bindings: readonly unknown[]): unknown[] => sql.exec(text, ...bindings).toArray()
      return { all: rows, get: (...bindings) => rows(...bindings)[0], run: rows }
    }
    super({ prepare, exec: (text) => sql.exec(text).toArray() }, 'call', 'us')
  }

  /** An object refuses savepoints, and code of the host cannot leave a transaction that is a call. */
  override lend<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return work()
  }
}
