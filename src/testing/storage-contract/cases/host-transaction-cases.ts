import assert from 'node:assert/strict'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { block, blockedBy } from '../samples/blocks.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, pin, unpin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import { whileWaiting } from './gate.ts'
import { assertRefused } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'

/** Cases about changes that meet a transaction of the host: the second one sees what the first one committed. */
export const hostTransactionCases: readonly StorageCase[] = [
  ...(['commit', 'rollback'] as const).map((end) =>
    hostCase(
      `a change that waited for a host’s transaction sees ${end === 'commit' ? 'what that committed' : 'nothing of it when it is rolled back'}`,
      ['begin', 'again'],
      async (storage, bench) => {
        const host = await bench.begin()
        await pin(storage, BOARD, '1', { transaction: host.transaction, limit: 1 })
        const elsewhere = await bench.again()
        const waiting = outcomeOf(() => pin(elsewhere, BOARD, '2', { limit: 1 }))
        await whileWaiting(waiting)
        await host[end]()
        const outcome = await waiting

        if (end === 'commit') assertRefused(outcome, 'PIN_LIMIT_REACHED')
        else assert.deepEqual(outcome, { value: 1 })
        assert.deepEqual(await issuesOn(storage, BOARD), end === 'commit' ? ['1'] : ['2'])
      },
    ),
  ),

  ...[false, true].map((used) =>
    hostCase(
      `a host that reads from a snapshot sees newer changes or must retry, on a board ${used ? 'that was used' : 'that was never used'} before`,
      ['beginSnapshot'],
      async (storage, bench) => {
        if (used) for (const act of [pin, unpin]) await act(storage, BOARD, '9')
        const { transaction, rollback } = await bench.begin('beginSnapshot')
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
      const { transaction, commit, rollback } = await bench.begin('beginSnapshot')
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
      const boards = [BOARD, { ...BOARD, repositoryId: '11' }]
      await pin(storage, BOARD, '1')
      const { transaction, commit, rollback } = await bench.begin('beginSnapshot')
      await storage.pinBoards.load(BOARD, transaction)
      await pin(storage, { ...BOARD, repositoryId: '11' }, '1')
      const retired = { thing: 'issue', issueId: '1', ...BOARD } as const
      const outcome = await outcomeOf(() => retire(storage, retired, { transaction }))
      const isDeleted = 'value' in outcome
      await (isDeleted ? commit() : rollback())

      if (!isDeleted) assertRefused(outcome, 'STORAGE_BUSY')
      for (const board of boards) assert.deepEqual(await issuesOn(storage, board), isDeleted ? [] : ['1'])
    },
  ),

  ...(['commit', 'rollback'] as const).map((end) =>
    hostCase(
      `the audit view ${end === 'commit' ? 'lists an event of a host’s transaction that commits late' : 'never lists an event of a host’s transaction that is rolled back'}`,
      ['again', 'begin'],
      async (storage, bench) => {
        const reader = await bench.again()
        const host = await bench.begin()
        await pin(storage, BOARD, '1', { transaction: host.transaction })
        const quick = pin(storage, { ...BOARD, repositoryId: '11' }, '2')
        await whileWaiting(quick)
        for (let look = 0; look < 2; look += 1) {
          await counted(reader)
          await outbox(reader)
        }
        await host[end]()
        await quick
        for (let look = 0; look < 2; look += 1) {
          assert.equal(await counted(reader), end === 'commit' ? 2 : 1)
          await outbox(reader)
        }
      },
    ),
  ),
]

/** Returns how many events the audit view lists. */
async function counted<Tx>(storage: ForgeStorage<Tx>): Promise<number> {
  return (await storage.events.list({}, { from: { page: 1 }, limit: 1000 })).items.length
}
