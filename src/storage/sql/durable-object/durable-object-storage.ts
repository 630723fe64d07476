import type { ForgeStorage } from '../../contract/forge-storage.ts'
import { sqliteDialect } from '../dialects/sqlite-dialect.ts'
import { Schema } from '../schema.ts'
import type { SqlStorageOptions } from '../sql-context.ts'
import { createSqlContext } from '../sql-context.ts'
import { createSqlStores } from '../sql-stores.ts'
import type { DurableObjectDatabase } from './durable-object-database.ts'
import { refuseOthers } from './durable-object-database.ts'
import { DurableObjectRuntime } from './durable-object-runtime.ts'

/** Makes a storage in the SQLite of a Durable Object; nothing is run there before its first use. @throws TypeError for an option that is none */
export function createDurableObjectStorage<S extends DurableObjectDatabase>(
  database: S,
  options: SqlStorageOptions = {},
): ForgeStorage<S> {
  refuseOthers(database)
  const context = createSqlContext(sqliteDialect, options)
  const runtime = new DurableObjectRuntime(database, new Schema(context))

  return {
    ...createSqlStores(context, runtime),
    transactions: 'synchronous',
    enter: (transaction) => runtime.enter(transaction),
    migrate: () => runtime.migrate(),
    schemaStatus: () => runtime.status(),
    close: async () => runtime.close(),
  }
}
