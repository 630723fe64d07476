import type { ForgeStorage } from '../../contract/forge-storage.ts'
import { sqliteDialect } from '../dialects/sqlite-dialect.ts'
import { Schema } from '../schema.ts'
import type { SqlStorageOptions } from '../sql-context.ts'
import { createSqlContext } from '../sql-context.ts'
import { createSqlStores } from '../sql-stores.ts'
import { GroupCommit } from './group-commit.ts'
import type { SqliteHandle } from './handle.ts'
import { HostTransactions } from './host-transactions.ts'
import { databaseFrom } from './open-connections.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { SqliteRuntime } from './sqlite-runtime.ts'
import { whenFree } from './waiting.ts'
import { writeLock } from './write-lock.ts'

/** Makes a storage over an SQLite database; nothing is opened before its first use. @throws TypeError for an option that is none */
export function createSqliteStorage<H extends SqliteHandle>(
  fileOrHandle: string | H,
  options: SqlStorageOptions = {},
): ForgeStorage<H> {
  const context = createSqlContext(sqliteDialect, options)
  const database = new SqliteDatabase<H>(databaseFrom(fileOrHandle), new Schema(context))
  const batches = new GroupCommit(() => database.connect())
  const joins = new HostTransactions(database, writeLock(context.prefix))

  const runtime = new SqliteRuntime({ database, batches, joins })

  return {
    ...createSqlStores(context, runtime),
    transactions: 'synchronous',
    enter: (transaction) => runtime.enter(transaction),
    async migrate() {
      database.refuseClosing()
      await whenFree(() => database.migrate())
    },
    async schemaStatus() {
      database.refuseClosing()
      return whenFree(() => database.status())
    },
    async close() {
      database.beginClosing()
      await batches.settled()
      database.end()
    },
  }
}
