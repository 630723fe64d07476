import assert from 'node:assert/strict'
import { blockedBy, issuesOn } from './contents.ts'
import { whileWaiting } from './gate.ts'
import { assertRefused } from './race.ts'
import { BOARD, block, pin, retire, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'

/** Cases about changes that meet a transaction of the host: the second one sees what the first one committed. */
export const hostTransactionWaitingCases: readonly StorageCase[] = [
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
    'a change that waited for a host’s transaction proceeds when that is rolled back',
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
      `a host that reads from a snapshot sees newer changes or must retry, on a board ${used ? 'that was used' : 'that was never used'} before`,
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

  hostCase(
    'a host that reads from a snapshot and deletes a user removes newer blocks too, or must retry',
    ['beginSnapshot'],
    async (storage, bench) => {
      await block(storage, '20', '30')
      const { transaction, commit, rollback } = await bench.beginSnapshot()
      await storage.blocks.among('20', ['30'], transaction)
      for (const userId of ['30', '31']) await block(storage, '21', userId)
      const outcome = await outcomeOf(() => retire(storage, { thing: 'user', userId: '30' }, { transaction }))
      const isDeleted = 'value' in outcome
      await (isDeleted ? commit() : rollback())

      if (!isDeleted) assertRefused(outcome, 'STORAGE_BUSY')
      assert.deepEqual(await blockedBy(storage, '20'), isDeleted ? [] : ['30'])
      assert.deepEqual(await blockedBy(storage, '21'), isDeleted ? ['31'] : ['30', '31'])
    },
  ),

  hostCase(
    'a host that reads from a snapshot and deletes an issue removes newer pins too, or must retry',
    ['beginSnapshot'],
    async (storage, bench) => {
      const other = { ...BOARD, repositoryId: '11' }
      await pin(storage, BOARD, '1')
      const { transaction, commit, rollback } = await bench.beginSnapshot()
      await storage.pinBoards.load(BOARD, transaction)
      await pin(storage, other, '1')
      const outcome = await outcomeOf(() =>
        retire(storage, { thing: 'issue', issueId: '1', ...BOARD }, { transaction }),
      )
      const isDeleted = 'value' in outcome
      await (isDeleted ? commit() : rollback())

      if (!isDeleted) assertRefused(outcome, 'STORAGE_BUSY')
      for (const board of [BOARD, other]) assert.deepEqual(await issuesOn(storage, board), isDeleted ? [] : ['1'])
    },
  ),
]
