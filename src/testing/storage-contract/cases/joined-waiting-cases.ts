import assert from 'node:assert/strict'
import { issuesOn } from './contents.ts'
import { whileWaiting } from './gate.ts'
import { assertRefused } from './race.ts'
import { BOARD, pin, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'

/** Cases about changes that meet a transaction of the host: the second one sees what the first one committed. */
export const joinedWaitingCases: readonly StorageCase[] = [
  hostCase(
    'a change that waited for a host’s transaction sees what that committed',
    ['begin', 'again'],
    async (storage, bench) => {
      const { transaction, commit } = await bench.begin()
      await pin(storage, BOARD, '1', { transaction, limit: 1 })
      const elsewhere = await bench.again()
      const waiting = outcomeOf(() => pin(elsewhere, BOARD, '2', { limit: 1 }))
      await whileWaiting(waiting)
      await commit()
      const outcome = await waiting

      assertRefused(outcome, 'PIN_LIMIT_REACHED')
      assert.deepEqual(await issuesOn(storage, BOARD), ['1'])
    },
  ),

  hostCase(
    'a change that waited for a host’s transaction goes on when that is rolled back',
    ['begin', 'again'],
    async (storage, bench) => {
      const { transaction, rollback } = await bench.begin()
      await pin(storage, BOARD, '1', { transaction, limit: 1 })
      const elsewhere = await bench.again()
      const waiting = outcomeOf(() => pin(elsewhere, BOARD, '2', { limit: 1 }))
      await whileWaiting(waiting)
      await rollback()

      assert.deepEqual(await waiting, { value: 1 })
      assert.deepEqual(await issuesOn(storage, BOARD), ['2'])
    },
  ),

  ...[false, true].map((used) =>
    hostCase(
      `a host that reads from a snapshot sees what came since or is told to begin anew, on a board ${used ? 'that was used' : 'nobody used'} before`,
      ['beginSnapshot'],
      async (storage, bench) => {
        if (used) for (const act of [pin, unpin]) await act(storage, BOARD, '9')
        const { transaction, rollback } = await bench.beginSnapshot()
        await storage.pinBoards.load(BOARD, transaction)
        await pin(storage, BOARD, '1', { limit: 1 })
        const outcome = await outcomeOf(() => pin(storage, BOARD, '2', { transaction, limit: 1 }))

        await rollback()

        assertRefused(outcome, 'PIN_LIMIT_REACHED', 'STORAGE_BUSY')
        assert.deepEqual(await issuesOn(storage, BOARD), ['1'])
      },
    ),
  ),
]
