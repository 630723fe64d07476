import assert from 'node:assert/strict'
import { ForgeError } from '../../../index.ts'
import type { ForgeStorage, Retired } from '../../../storage/storage.ts'
import { define, grant, removeBadge } from '../samples/badges.ts'
import { BLOCK, block, blockByUser, blockedBy, blockedByUser, raised } from '../samples/blocks.ts'
import { BOARD, issuesOn, pin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import type { Extras } from '../samples/sample.ts'
import { change, NOON } from '../samples/sample.ts'
import { meeting, turns, whileWaiting } from './gate.ts'
import { assertRefused, atOnce, idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { begunCase, outcomeOf } from './storage-case.ts'

/** A change, and the deletion of its subject. */
interface Overtaking {
  /** The subject that is deleted. */
  readonly name: string
  readonly retired: Retired
  begin<Tx>(storage: ForgeStorage<Tx>, extras: Extras<Tx>): Promise<unknown>
  /** Returns what remains of the change after the deletion. */
  left<Tx>(storage: ForgeStorage<Tx>): Promise<readonly unknown[]>
}

const ROUNDS = 60
/** How many rounds run concurrently. If all of them did, most calls would wait for a connection, and few would meet. */
const ROUNDS_AT_ONCE = 10
/** The maximum time that a call waits for a lock, in milliseconds. */
const MAX_WAIT_MS = 10_000
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
    async left(storage) {
      const board = await outcomeOf(() => storage.pinBoards.load(BOARD))
      return 'value' in board ? board.value : []
    },
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
    name: 'the user whom another user blocks by it',
    retired: { thing: 'user', userId: '30' },
    begin: (storage, extras) => blockByUser(storage, '31', '30', extras),
    left: (storage) => blockedByUser(storage, '31'),
  },
  {
    name: 'the user who blocks by it',
    retired: { thing: 'user', userId: '31' },
    begin: (storage, extras) => blockByUser(storage, '31', '30', extras),
    left: async (storage) => [...(await storage.userBlocks.among({ blockerId: '31' }, ['30'])).byUser],
  },
  {
    name: 'the user it grants to',
    retired: { thing: 'user', userId: '30' },
    begin: (storage, extras) => grant(storage, '30', ['a'], extras),
    left: async (storage) => ('value' in (await outcomeOf(() => removeBadge(storage, 'a'))) ? [] : ['a']),
  },
]

/**
 * Cases about deletions and new members that meet an uncommitted change: the one that comes second waits for the first.
 * Source: docs/storage.md, section 2
 */
export const overtakingCases: readonly StorageCase[] = [
  ...OVERTAKINGS.flatMap(({ name, retired, begin, left }) => [
    ...raceCases(`a change that is not committed when ${name} is deleted leaves nothing behind`, async (one, other) => {
      await define(other, 'a')
      const [, second] = await meeting(
        (beforeCommit) => begin(one, { beforeCommit }),
        () => retire(other, retired),
      )

      assert.ok('value' in second, 'the deletion is made')
      assert.deepEqual(await left(one), [])
    }),

    ...raceCases(`a change that waits for the deletion of ${name} is refused`, async (one, other) => {
      await define(other, 'a')
      const [first, second] = await meeting(
        (beforeCommit) => retire(one, retired, { beforeCommit }),
        () => begin(other, {}),
      )
      if ('thrown' in first) return assert.ok('value' in second)

      assertRefused(second, ...REFUSALS)
      assert.deepEqual(await left(one), [])
    }),
  ]),

  ...raceCases('a user who becomes a member while being blocked is never member and blocked', async (one, other) => {
    const members = new Set<string>()
    for (const userIds of waves()) {
      const work = userIds.flatMap((userId) => [blockUnlessMember(one, userId, members), admit(other, userId, members)])
      await atOnce(work, 'CANNOT_BLOCK_MEMBER', 'ALREADY_BLOCKED')
    }
    const both = (await blockedBy(one, '20')).filter((userId) => members.has(userId))

    assert.deepEqual(both, [])
    assert.equal((await blockedBy(one, '20')).length + members.size, ROUNDS)
  }),

  begunCase(
    'a change that waits too long is refused as busy, and can be made later',
    async (storage, { transaction, rollback }, bench) => {
      const elsewhere = await bench.again()
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
    ['again'],
  ),
]

/** Returns the ids of all rounds, in groups that run one after the other. */
function waves(): readonly (readonly string[])[] {
  const ids = idsTo(ROUNDS)
  return Array.from({ length: ROUNDS / ROUNDS_AT_ONCE }, (_, n) =>
    ids.slice(n * ROUNDS_AT_ONCE, (n + 1) * ROUNDS_AT_ONCE),
  )
}

/**
 * Looks up the membership, and blocks the user if it is not a member. Starts again if a lifecycle call ran in between.
 */
async function blockUnlessMember<Tx>(
  storage: ForgeStorage<Tx>,
  userId: string,
  members: ReadonlySet<string>,
): Promise<void> {
  for (;;) {
    const epoch = await storage.blocks.epoch('20')
    if (members.has(userId)) throw new ForgeError('CANNOT_BLOCK_MEMBER', 'a member')

    await turns(Number(userId) % 4)
    const block = { ...BLOCK, userId, note: '', blockedAt: NOON, blockedBy: null }
    const { result } = await change(storage.blocks, { ...BLOCK, userId }, (state) =>
      state.epoch === epoch
        ? { state: { ...state, block }, events: [], result: 'blocked' }
        : { state, events: [], result: 'stale' },
    )
    if (result === 'blocked') return
  }
}

/** Adds a member and raises the epoch. Removes the member again if the user is blocked. */
async function admit<Tx>(storage: ForgeStorage<Tx>, userId: string, members: Set<string>): Promise<void> {
  await turns(1)
  members.add(userId)
  try {
    await change(storage.blocks, { ...BLOCK, userId }, raised)
  } catch (error) {
    members.delete(userId)
    throw error
  }
}
