import type { MaybePromise, SyncOrAsync } from '../../../../src/schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../../../src/schema/sync-or-async.ts'
import { command } from '../../../../src/storage/sql/dialect.ts'
import { TransactionQueues } from '../../../../src/storage/sql/server/transaction-queues.ts'
import type { SqlRuntime } from '../../../../src/storage/sql/session.ts'
import type { SqlFault } from '../sql-fault.ts'
import { plainly } from '../sql-fault.ts'
import type { StorageFault } from '../storage-fault.ts'

/** Commits the host's transaction with every change in it. */
export const commitsHostTransactions: SqlFault = {
  runtime: (runtime) => ({
    ...plainly(runtime),
    write(work, circumstances) {
      const { transaction } = circumstances
      const written = runtime.write(work, circumstances)
      return transaction === undefined ? written : runMaybeAsync(committed(runtime, transaction, written))
    },
  }),
}

/** Writes on a connection of its own, whatever the host began. */
export const writesBesideHostTransactions: SqlFault = {
  runtime: (runtime) => ({
    ...plainly(runtime),
    write: (work, { signal }) => runtime.write(work, { signal }),
  }),
}

/** Reads on a connection of its own, whatever the host began. */
export const readsBesideHostTransactions: SqlFault = {
  runtime: (runtime) => ({
    ...plainly(runtime),
    read: (work) => runtime.read(work, undefined),
    readSnapshot: (work) => runtime.readSnapshot(work, undefined),
  }),
}

/** Keeps its transaction from the host. */
export const keepsItsTransaction: SqlFault = {
  runtime: (runtime) => ({
    ...plainly(runtime),
    write: (work, circumstances) =>
      runtime.write(
        (session, open) => work(session, structuredClone(Object.create(null) as typeof open)),
        circumstances,
      ), // unknown data: not what it should be
  }),
}

/** Takes every call that comes during a `beforeCommit` for one that this makes. */
export const takesCallersForBeforeCommit: SqlFault = {
  queues: (server) => new TransactionQueues(server, () => undefined),
}

/** Enters whatever it is given. */
export const entersAnything: StorageFault = (storage) => ({ ...storage, checkTransaction: () => undefined })

/** Lets both sides of one database have the same names. */
export const ignoresThePrefix: SqlFault = { options: ({ prefix: _, ...options }) => options }

function* committed<T, Tx>(runtime: SqlRuntime<Tx>, transaction: Tx, written: MaybePromise<T>): SyncOrAsync<T> {
  const value = yield* wait(written)
  for (const text of ['commit', 'begin']) {
    yield* wait(runtime.read((session) => session.all(command(text)), transaction))
  }
  return value
}
