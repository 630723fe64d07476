import assert from 'node:assert/strict'
import type { ForgeStorage, Retired } from '../../../storage/storage.ts'
import { define, grant, removeBadge } from '../samples/badges.ts'
import { block, blockedBy } from '../samples/blocks.ts'
import { BOARD, issuesOn, pin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import type { Extras } from '../samples/sample.ts'
import { heldInBeforeCommit, whileWaiting } from './gate.ts'
import { assertRefused, raceCases } from './race.ts'
import type { Outcome, StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'

/** A change, and the deletion of its subject. */
interface Overtaking {
  /** The subject that is deleted. */
  readonly name: string
  readonly retired: Retired
  begin<Tx>(storage: ForgeStorage<Tx>, extras: Extras<Tx>): Promise<unknown>
  /** Returns what remains of the change after the deletion. */
  left<Tx>(storage: ForgeStorage<Tx>): Promise<readonly unknown[]>
}

const REFUSALS = ['ISSUE_NOT_FOUND', 'REPOSITORY_NOT_FOUND', 'USER_NOT_FOUND', 'ORGANIZATION_NOT_FOUND'] as const
const OTHER = { ...BOARD, repositoryId: '11' }

const OVERTAKINGS: readonly Overtaking[] = [
  {
    name: 'its issue',
    retired: { thing: 'issue', issueId: '1', ...BOARD },
    begin: (storage, extras) => pin(storage, BOARD, '1', extras),
    left: (storage) => issuesOn(storage, BOARD),
  },
  {
    name: 'its issue, which was in another repository,',
    retired: { thing: 'issue', issueId: '1', ...BOARD },
    begin: (storage, extras) => pin(storage, OTHER, '1', extras),
    left: (storage) => issuesOn(storage, OTHER),
  },
  {
    name: 'its repository',
    retired: { thing: 'repository', repositoryId: '10' },
    begin: (storage, extras) => pin(storage, BOARD, '1', extras),
    left: async (storage) => valuesOf(await outcomeOf(() => storage.pinBoards.load(BOARD))),
  },
  {
    name: 'the user it blocks',
    retired: { thing: 'user', userId: '30' },
    begin: (storage, extras) => block(storage, '20', '30', extras),
    left: (storage) => blockedBy(storage, '20'),
  },
  {
    name: 'the organization it blocks for',
    retired: { thing: 'organization', organizationId: '20' },
    begin: (storage, extras) => block(storage, '20', '30', extras),
    left: async (storage) => [...(await storage.blocks.among('20', ['30']))],
  },
  {
    name: 'the user it grants to',
    retired: { thing: 'user', userId: '30' },
    begin: (storage, extras) => grant(storage, '30', ['a'], extras),
    left: async (storage) => ('value' in (await outcomeOf(() => removeBadge(storage, 'a'))) ? [] : ['a']),
  },
]

/** Cases about deletions that meet an uncommitted change: the one that comes second waits for the first. */
export const overtakingCases: readonly StorageCase[] = [
  ...OVERTAKINGS.flatMap(({ name, retired, begin, left }) => [
    ...raceCases(`a change that is not committed when ${name} is deleted leaves nothing behind`, async (one, other) => {
      await define(other, 'a')
      const first = await heldInBeforeCommit((beforeCommit) => begin(one, { beforeCommit }))
      const second = outcomeOf(() => retire(other, retired))
      await whileWaiting(second)
      first.release()
      await first.outcome

      assert.equal(valuesOf(await second).length, 1, 'the deletion is recorded once')
      assert.deepEqual(await left(one), [])
    }),

    ...raceCases(`a change that waits for the deletion of ${name} is refused`, async (one, other) => {
      await define(other, 'a')
      const first = await heldInBeforeCommit((beforeCommit) => retire(one, retired, { beforeCommit }))
      const second = outcomeOf(() => begin(other, {}))
      await whileWaiting(second)
      first.release()
      const isDeleted = 'value' in (await first.outcome)

      if (isDeleted) assertRefused(await second, ...REFUSALS)
      else assert.ok('value' in (await second))
      if (isDeleted) assert.deepEqual(await left(one), [])
    }),
  ]),

  hostCase(
    'a change that waits too long is refused as busy, and can be made later',
    ['begin', 'again'],
    async (storage, bench) => {
      const elsewhere = await bench.again()
      const { transaction, rollback } = await bench.begin()
      await pin(storage, BOARD, '1', { transaction })
      const waiting = outcomeOf(() => pin(elsewhere, BOARD, '2'))
      await whileWaiting(waiting, MAX_WAIT_MS)
      const outcome = await Promise.race([waiting, Promise.resolve({ value: 'it is still waiting' })])
      await rollback()
      await waiting

      assertRefused(outcome, 'STORAGE_BUSY')
      await pin(elsewhere, BOARD, '3')
      assert.deepEqual(await issuesOn(storage, BOARD), ['3'])
    },
  ),
]

/** The maximum time that a call waits for a lock, in milliseconds. */
const MAX_WAIT_MS = 10_000

function valuesOf(outcome: Outcome): readonly unknown[] {
  return 'value' in outcome && Array.isArray(outcome.value) ? outcome.value : []
}
