import type { ForgeEvent } from '../../../../src/index.ts'
import type { ForgeStorage, Retirement } from '../../../../src/storage/contract/storage.ts'
import type { PinBoardKey } from '../../../../src/storage/contract/stores.ts'
import { compileStatement } from '../../../../src/storage/sql/query.ts'
import type { SqlFault } from '../sql-fault.ts'
import { asItIs, concerns, inWrites, pretended, savedHead } from '../sql-fault.ts'
import type { StorageFault } from '../storage-fault.ts'
import { inChanges } from '../storage-fault.ts'

/** Does not compare epochs. */
export const fencesNothing: StorageFault = inChanges((store, key, change) =>
  store.update(key, { ...change, expectedEpoch: undefined }),
)

/** Counts every change where only lifecycle calls count. */
export const fencesByVersion: StorageFault = (storage) => {
  let version = 0
  const counting = inChanges(async (store, key, change) => {
    if (change.expectedEpoch !== undefined && change.expectedEpoch !== version) return { stale: true }

    const outcome = await store.update(key, { ...change, expectedEpoch: undefined })
    version += 1
    return outcome
  })
  const { pinBoards, ...others } = counting(storage)
  return { ...others, pinBoards: { ...pinBoards, epoch: () => version } }
}

/** Lets lifecycle calls leave no trace where there is nothing to clean. */
export const raisesNoEpoch: StorageFault = inChanges((store, key, change) =>
  store.update(key, { ...change, raisesEpoch: undefined }),
)

/** Takes away what hangs on a repository, and forgets that it was there. */
export const forgetsRepositories: StorageFault = (storage) => ({
  ...storage,
  async retire(retirement) {
    if (retirement.retired.thing !== 'repository') return storage.retire(retirement)

    const { repositoryId } = retirement.retired
    await emptied(storage, { repositoryId, kind: 'pullRequest' }, () => true)
    return emptied(storage, { repositoryId, kind: 'issue' }, () => true, retirement)
  },
})

/** Takes an issue off its board, and forgets that it was there. */
export const forgetsIssues: StorageFault = (storage) => ({
  ...storage,
  async retire(retirement) {
    const { retired } = retirement
    if (retired.thing !== 'issue') return storage.retire(retirement)

    const { repositoryId, kind, issueId } = retired
    return emptied(storage, { repositoryId, kind }, (one) => one === issueId, retirement)
  },
})

async function emptied<Tx>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  goes: (issueId: string) => boolean,
  retirement?: Retirement<Tx>,
): Promise<readonly ForgeEvent[]> {
  const by = retirement?.by ?? { actorId: null, at: () => new Date() }
  const outcome = await storage.pinBoards.update(board, {
    expectedEpoch: undefined,
    by,
    beforeCommit: retirement?.beforeCommit,
    transaction: retirement?.transaction,
    raisesEpoch: true,
    decide(rows) {
      const state = rows.filter((row) => !goes(row.issueId))
      const removed = { pins: rows.length - state.length, blocks: 0, grants: 0 }
      return { state, events: retirement === undefined ? [] : [retirement.record(removed)], result: undefined }
    },
  })
  return outcome.stale ? [] : outcome.events
}

/** Deletes the head of what is gone, where it should be marked. */
export const deletesRetiredHeads: SqlFault = inWrites(({ build }) => {
  return function* (session, statement) {
    const saved = savedHead(statement)
    if (saved?.retired !== true) return yield* asItIs(session, statement)

    const { scope, key } = saved.head
    const head = build.deleteFrom('heads').where('scope', '=', scope).where('key', '=', key)
    yield* asItIs(session, compileStatement(head))
    return []
  }
})

/** Writes no tombstones. */
export const leavesNoTombstones: SqlFault = inWrites(() => {
  return function* (session, statement) {
    if (concerns(statement, 'from', 'issue_tombstones')) return []
    return yield* asItIs(session, statement)
  }
})

/** Takes a tombstone for new whenever a statement says that it did something. */
export const decidesByAffectedRows: SqlFault = inWrites(() => {
  return function* (session, statement) {
    const rows = yield* asItIs(session, statement)
    return concerns(statement, '^insert (ignore )?into', 'issue_tombstones') ? pretended({}) : rows
  }
})

/** Retires a repository, and leaves the head of its imports. */
export const leavesImports: SqlFault = inWrites(() => {
  return function* (session, statement) {
    const saved = savedHead(statement)
    const isLeft = saved?.retired === true && saved.head.scope === 'issueImports'
    return isLeft ? [] : yield* asItIs(session, statement)
  }
})
