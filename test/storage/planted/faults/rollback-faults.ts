import type { MaybePromise, SyncOrAsync } from '../../../../src/schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../../../src/schema/sync-or-async.ts'
import type { Session, SqlRuntime } from '../../../../src/storage/sql/session.ts'
import type { SqlFault } from '../sql-fault.ts'
import { plainly } from '../sql-fault.ts'
import type { StorageFault } from '../storage-fault.ts'
import { inChanges } from '../storage-fault.ts'

/** Asks the host after the commit. */
export const asksTooLate: StorageFault = inChanges(async (store, key, { beforeCommit, ...change }) => {
  const reported: (() => unknown)[] = []
  const outcome = await store.update(key, {
    ...change,
    beforeCommit: (events, transaction) => void reported.push(() => beforeCommit?.(events, transaction)),
  })
  for (const report of reported) await report()
  return outcome
})

/** Does not ask the host. */
export const asksNobody: StorageFault = inChanges((store, key, change) =>
  store.update(key, { ...change, beforeCommit: undefined }),
)

/** Commits what was written before a change failed. */
export const commitsHalves: SqlFault = { runtime: (runtime) => keepingHalves(runtime, () => true) }

/** Leaves in the host's transaction what was written before a change failed. */
export const changesWithoutSavepoint: SqlFault = {
  runtime: (runtime) => keepingHalves(runtime, (transaction) => transaction !== undefined),
}

/** Reads what others have not committed. */
export const readsUncommitted: SqlFault = (() => {
  const open: Session[] = []

  return {
    runtime: (runtime) => ({
      ...plainly(runtime),
      read: (work, transaction) => readDirty(open, work, transaction) ?? runtime.read(work, transaction),
      readSnapshot: (work, transaction) =>
        readDirty(open, (session) => runMaybeAsync(work(session)), transaction) ??
        runtime.readSnapshot(work, transaction),
      write: (work, circumstances) =>
        runtime.write(function* (session, transaction) {
          open.push(session)
          try {
            return yield* work(session, transaction)
          } finally {
            open.splice(open.indexOf(session), 1)
          }
        }, circumstances),
    }),
  }
})()

type Ending<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown }

function keepingHalves<Tx>(runtime: SqlRuntime<Tx>, keeps: (transaction: Tx | undefined) => boolean): SqlRuntime<Tx> {
  return {
    ...plainly(runtime),
    write(work, circumstances) {
      if (!keeps(circumstances.transaction)) return runtime.write(work, circumstances)

      const kept = runtime.write((session, transaction) => ending(work(session, transaction)), circumstances)
      return runMaybeAsync(reported(kept))
    },
  }
}

function* ending<T>(work: SyncOrAsync<T>): SyncOrAsync<Ending<T>> {
  try {
    return { ok: true, value: yield* work }
  } catch (error) {
    return { ok: false, error }
  }
}

function* reported<T>(kept: Ending<T> | Promise<Ending<T>>): SyncOrAsync<T> {
  const end = yield* wait(kept)
  if (end.ok) return end.value
  throw end.error
}

function readDirty<T>(open: readonly Session[], work: (session: Session) => MaybePromise<T>, transaction: unknown) {
  const [session] = open
  return session === undefined || transaction !== undefined ? undefined : work(session)
}
