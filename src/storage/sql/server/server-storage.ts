import type { ForgeStorage } from '../../contract/storage.ts'
import type { SqlContext } from '../context.ts'
import { Schema } from '../schema/schema.ts'
import { createSqlStores } from '../stores/stores.ts'
import type { Server } from './server.ts'
import { ServerDatabase } from './server-database.ts'
import { ServerRuntime } from './server-runtime.ts'

/** Creates a storage on a database server. Nothing is opened before its first use. */
export function createServerStorage<Tx extends object>(server: Server<Tx>, context: SqlContext): ForgeStorage<Tx> {
  const database = new ServerDatabase(server, new Schema(context))
  const runtime = new ServerRuntime({ server, database, dialect: context.dialect })

  return {
    ...createSqlStores(context, runtime),
    transactions: 'asynchronous',
    checkTransaction: (transaction) => runtime.checkTransaction(transaction),
    migrate: () => database.during((deadline) => database.migrate(deadline), { total: Number.POSITIVE_INFINITY }),
    schemaStatus: () => database.during((deadline) => database.status(deadline)),
    onWarning: (listener) => server.onWarning(listener),
    close: () => database.close(),
  }
}
