import type { ForgeStorage } from '../../contract/storage.ts'
import type { SqlStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from '../context.ts'
import { command } from '../dialect.ts'
import { sqliteDialect } from '../dialects/sqlite.ts'
import type { Statement } from '../query.ts'
import { limitedTo, MAX_WAIT_MS, retry } from '../retry.ts'
import { Schema } from '../schema/schema.ts'
import type { Tables } from '../schema/tables.ts'
import { createSqlStores } from '../stores/stores.ts'
import { databaseFrom } from './connections.ts'
import { SqliteDatabase } from './database.ts'
import { GroupCommit } from './group-commit.ts'
import type { SqliteHandle } from './handle.ts'
import { HostTransactions } from './host-transactions.ts'
import { SqliteRuntime } from './runtime.ts'

/**
 * Creates a storage on an SQLite database. Nothing is opened before its first use. @throws TypeError if an option is
 * invalid
 */
export function createSqliteStorage<H extends SqliteHandle>(
  fileOrHandle: string | H,
  options: SqlStorageOptions = {},
): ForgeStorage<H> {
  checkStorageOptions('sqliteStorage', options, SQL_OPTIONS)
  const context = createSqlContext(sqliteDialect, options)
  const database = new SqliteDatabase<H>(databaseFrom(fileOrHandle), new Schema(context))
  const batches = new GroupCommit(() => database.connect())
  const hostTransactions = new HostTransactions(database, writeLock(context.prefix))

  const runtime = new SqliteRuntime({ database, batches, hostTransactions })

  return {
    ...createSqlStores(context, runtime),
    transactions: 'synchronous',
    checkTransaction: (transaction) => runtime.checkTransaction(transaction),
    async migrate() {
      database.refuseClosing()
      await retry(() => database.migrate(), limitedTo(MAX_WAIT_MS))
    },
    async schemaStatus() {
      database.refuseClosing()
      return retry(() => database.status(), limitedTo(MAX_WAIT_MS))
    },
    onWarning: () => undefined,
    async close() {
      database.beginClosing()
      await batches.settled()
      database.end()
    },
  }
}

/**
 * Returns a statement that takes the write lock of a host's transaction and changes nothing: SQLite takes the lock
 * before the condition matches no row.
 */
export function writeLock(prefix: string): Statement<unknown> {
  return command(`update "${prefix}${'ledger' satisfies keyof Tables}" set only = only where only < 0`)
}
