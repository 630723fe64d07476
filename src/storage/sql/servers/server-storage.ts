import type { ForgeStorage } from '../../contract/storage.ts'
import type { SqlContext } from '../context.ts'
import { createSqlStores } from '../stores/stores.ts'
import type { Server } from './server.ts'
import { ServerRuntime } from './server-runtime.ts'

/** A storage on a database server, and what it runs on: a host can keep its tables beside those of the storage. */
export interface ServerStorage<Tx extends object> {
  readonly storage: ForgeStorage<Tx>
  readonly context: SqlContext
  readonly runtime: ServerRuntime<Tx>
}

/** Creates a storage on a database server. Nothing is opened before its first use. */
export function createServerStorage<Tx extends object>(server: Server<Tx>, context: SqlContext): ServerStorage<Tx> {
  const runtime = new ServerRuntime(server, context)
  const storage: ForgeStorage<Tx> = {
    ...createSqlStores(context, runtime),
    transactions: 'asynchronous',
    checkTransaction: (transaction) => runtime.checkTransaction(transaction),
    migrate: () => runtime.migrate(),
    schemaStatus: () => runtime.schemaStatus(),
    close: () => runtime.close(),
  }
  return { storage, context, runtime }
}
