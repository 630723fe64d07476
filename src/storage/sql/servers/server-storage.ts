import type { SqlContext } from '../context.ts'
import type { SqlStorage } from '../database.ts'
import { sqlDatabase } from '../database.ts'
import { createSqlStores } from '../stores/stores.ts'
import { ServerRuntime } from './runtime.ts'
import type { Server } from './server.ts'

/** Creates a storage on a database server. Nothing is opened before its first use. */
export function createServerStorage<Tx extends object>(server: Server, context: SqlContext): SqlStorage<Tx> {
  const runtime = new ServerRuntime<Tx>(server, context)
  return {
    ...createSqlStores(context, runtime),
    database: sqlDatabase(context, runtime),
    transactions: 'asynchronous',
    checkTransaction: (transaction) => runtime.checkTransaction(transaction),
    migrate: () => runtime.migrate(),
    schemaStatus: () => runtime.schemaStatus(),
    close: () => runtime.close(),
  }
}
