import type { ForgeEvent } from '../../../../src/index.ts'
import type { ForgeStorage, Retirement } from '../../../../src/storage/contract/storage.ts'
import type { PinBoardKey } from '../../../../src/storage/contract/stores.ts'
import { compileStatement } from '../../../../src/storage/sql/query.ts'
import type { SqlFault } from '../sql-fault.ts'
import { asItIs, concerns, inWrites, pretended, savedHead } from '../sql-fault.ts'
import type { StorageFault } from '../storage-fault.ts'
import { redecided } from '../storage-fault.ts'

/** Raises the epoch with every change, where only new members raise it. */
export const countsChanges: StorageFault = ({ blocks, ...storage }) => ({
  ...storage,
  blocks: {
    ...blocks,
    update: (key, change) =>
      blocks.update(
        key,
        redecided(change, (decide) => (before, at) => {
          const decision = decide(before, at)
          return { ...decision, state: { ...decision.state, epoch: before.epoch + 1 } }
        }),
      ),
  },
})

/** Shows changes the epoch that it had when it was opened. */
export const showsAnOldEpoch: StorageFault = ({ blocks, ...storage }) => ({
  ...storage,
  blocks: {
    ...blocks,
    update: (key, change) =>
      blocks.update(
        key,
        redecided(change, (decide) => (before, at) => {
          const { state, ...decision } = decide({ ...before, epoch: 0 }, at)
          return { ...decision, state: { ...state, epoch: before.epoch + state.epoch } }
        }),
      ),
  },
})

/** Leaves the epoch as it is if the block is too. */
export const raisesNoEpoch: StorageFault = ({ blocks, ...storage }) => ({
  ...storage,
  blocks: {
    ...blocks,
    update: (key, change) =>
      blocks.update(
        key,
        redecided(change, (decide) => (before, at) => {
          const decision = decide(before, at)
          return decision.state.block === before.block ? { ...decision, state: before } : decision
        }),
      ),
  },
})

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
    by,
    beforeCommit: retirement?.beforeCommit,
    transaction: retirement?.transaction,
    decide(rows) {
      const state = rows.filter((row) => !goes(row.issueId))
      const removed = { pins: rows.length - state.length, blocks: 0, grants: 0 }
      return { state, events: retirement === undefined ? [] : [retirement.record(removed)], result: undefined }
    },
  })
  return outcome.events
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
