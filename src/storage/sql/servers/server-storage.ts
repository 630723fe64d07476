import type { SqlContext } from '../context.ts'
import type { SqlStorage } from '../database.ts'
import { sqlDatabase } from '../database.ts'
import { createSqlStores } from '../stores/stores.ts'
import { isKyselyExecutor } from './clients/kysely.ts'
import { isHostTransaction, runIn } from './host-transaction.ts'
import { ServerRuntime } from './runtime.ts'
import type { Runner, Server } from './server.ts'
import type { WrappedTransactions } from './wrapped-transactions.ts'

/** A server, and how the transactions of a host on it are wrapped. */
interface WrappedServer<C extends object> extends Omit<Server, 'ofHost'> {
  readonly wrapped: WrappedTransactions<C>
  /** Runs statements on a connection of the driver. @throws TypeError if it cannot be one */
  runnerOf(connection: object): Runner
}

/** Creates a storage on a database server. Nothing is opened before its first use. */
export function createServerStorage<Tx extends object, C extends object>(
  { wrapped, runnerOf, ...server }: WrappedServer<C>,
  context: SqlContext,
): SqlStorage<Tx> {
  const ofHost = (transaction: object): Runner => {
    const open = wrapped.unwrap(transaction)
    if (isHostTransaction(open)) return open
    return isKyselyExecutor(open) ? { identity: open, run: runIn(open) } : runnerOf(open)
  }
  const runtime = new ServerRuntime<Tx>({ ...server, ofHost }, context)
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
