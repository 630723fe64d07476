import assert from 'node:assert/strict'
import type { EventDraft } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import type { Everything } from './aggregates.ts'
import { AGGREGATES, everything } from './aggregates.ts'
import { BOARD, change, NO_SUBJECT, NOON, pin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf, storageCase } from './storage-case.ts'

/**
 * Cases about changes that fail at each place where a change can fail: a change is written completely or not at all.
 */
export const rollbackCases: readonly StorageCase[] = [
  ...[0, 2].map((healthy) =>
    storageCase(
      `an event that cannot be stored, after ${healthy} others, rolls back its whole change`,
      async (storage) => {
        await pin(storage, BOARD, '1')
        const before = await everything(storage)
        const error = new Error('no data')
        const events = [...Array.from({ length: healthy }, () => pinned('2')), unkeepable(error)]
        const outcome = await outcomeOf(() =>
          change(storage.pinBoards, BOARD, () => ({ state: [row('2'), row('3')], events, result: 0 })),
        )

        assert.deepEqual(outcome, { thrown: error })
        assert.deepEqual(await everything(storage), before)
      },
    ),
  ),

  ...AGGREGATES.map((one) =>
    hostCase(
      `a change of ${one.name} is seen by another storage when it is committed, and not when it fails right before`,
      ['again'],
      async (storage, bench) => {
        await one.prepare(storage)
        await one.alter(storage)
        const elsewhere = await bench.again()
        const before = await everything(elsewhere)
        const seen: Promise<Everything>[] = []
        await outcomeOf(() => one.alter(storage, { beforeCommit: () => lookAndThrow(elsewhere, seen) }))

        assert.deepEqual(await Promise.all(seen), [before])
        assert.deepEqual(await everything(elsewhere), before)
        for (const each of [elsewhere, storage, elsewhere]) {
          await one.alter(each)
          assert.deepEqual(await everything(storage), await everything(elsewhere))
        }
      },
    ),
  ),
]

function lookAndThrow<Tx>(storage: ForgeStorage<Tx>, seen: Promise<Everything>[]): void {
  seen.push(everything(storage))
  throw new Error('the host says no')
}

function row(issueId: string): { issueId: string; pinnedAt: Date; pinnedBy: null } {
  return { issueId, pinnedAt: new Date(NOON), pinnedBy: null }
}

function pinned(issueId: string): EventDraft<'issue.pinned'> {
  return { ...NO_SUBJECT, type: 'issue.pinned', data: { position: 1 }, repositoryId: BOARD.repositoryId, issueId }
}

/** Creates an event whose data throws when it is read. */
function unkeepable(error: Error): EventDraft<'issue.pinned'> {
  const data = {
    get position(): number {
      throw error
    },
  }
  return { ...pinned('9'), data }
}
