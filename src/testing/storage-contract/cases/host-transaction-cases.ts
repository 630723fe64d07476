import assert from 'node:assert/strict'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage, Retired } from '../../../storage/storage.ts'
import { block, blockedBy } from '../samples/blocks.ts'
import { BOARD, issuesOn, pin, unpin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import { whileWaiting } from './gate.ts'
import { assertRefused } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'

/** A deletion of what is on two boards or lists. */
interface Deletion {
  readonly name: string
  readonly retired: Retired
  add<Tx>(storage: ForgeStorage<Tx>, owner: string): Promise<unknown>
  read<Tx>(storage: ForgeStorage<Tx>, transaction: Tx): unknown
  left<Tx>(storage: ForgeStorage<Tx>, owner: string): Promise<readonly unknown[]>
}

const DELETIONS: readonly Deletion[] = [
  {
    name: 'a user removes newer blocks',
    retired: { thing: 'user', userId: '30' },
    add: (storage, organizationId) => block(storage, organizationId, '30'),
    read: (storage, transaction) => storage.blocks.among('10', ['30'], transaction),
    left: blockedBy,
  },
  {
    name: 'an issue removes newer pins',
    retired: { thing: 'issue', issueId: '1', ...BOARD },
    add: (storage, repositoryId) => pin(storage, { ...BOARD, repositoryId }, '1'),
    read: (storage, transaction) => storage.pinBoards.load(BOARD, transaction),
    left: (storage, repositoryId) => issuesOn(storage, { ...BOARD, repositoryId }),
  },
]

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

  ...DELETIONS.map(({ name, retired, add, read, left }) =>
    hostCase(
      `a host that reads from a snapshot and deletes ${name} too, or must retry`,
      ['beginSnapshot'],
      async (storage, bench) => {
        await add(storage, '10')
        const { transaction, commit, rollback } = await bench.begin('beginSnapshot')
        await read(storage, transaction)
        await add(storage, '11')
        const outcome = await outcomeOf(() => retire(storage, retired, { transaction }))
        const isDeleted = 'value' in outcome
        await (isDeleted ? commit() : rollback())

        if (isForgeError('thrown' in outcome && outcome.thrown)) assertRefused(outcome, 'STORAGE_BUSY')
        for (const owner of ['10', '11']) assert.equal((await left(storage, owner)).length, isDeleted ? 0 : 1)
      },
    ),
  ),
]
