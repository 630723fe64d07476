import assert from 'node:assert/strict'
import { ForgeError } from '../../../index.ts'
import type { ForgeStorage, Retired } from '../../../storage/storage.ts'
import { BLOCK, blockedBy, raised } from '../samples/blocks.ts'
import { BOARD, issuesOn, pin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import { change, left, NOON } from '../samples/sample.ts'
import { turns } from './gate.ts'
import { atOnce, idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase } from './storage-case.ts'

const ROUNDS = 60
/** How many rounds run concurrently. If all of them did, most calls would wait for a connection, and few would meet. */
const ROUNDS_AT_ONCE = 10

/**
 * Cases about data that is looked up outside the lock, and that changes before the lock is taken.
 * Source: docs/storage.md, section 2
 */
export const fenceCases: readonly StorageCase[] = [
  hostCase(
    'in a host’s transaction the epoch is raised, and read by its changes',
    ['begin'],
    async (storage, bench) => {
      const { transaction, rollback } = await bench.begin()
      await change(storage.blocks, BLOCK, raised, { transaction })
      assert.equal(await storage.blocks.epoch('20', transaction), 1)
      assert.equal((await change(storage.blocks, BLOCK, left, { transaction })).result.epoch, 1)
      await rollback()

      assert.equal(await storage.blocks.epoch('20'), 0)
    },
  ),

  ...raceCases('an epoch that one storage raises is what a change of the other sees', async (one, other) => {
    assert.equal(await one.blocks.epoch('20'), 0)
    await change(other.blocks, BLOCK, raised)

    assert.equal(await one.blocks.epoch('20'), 1)
    assert.equal((await change(one.blocks, BLOCK, left)).result.epoch, 1)
  }),

  ...raceCases('a user who becomes a member while being blocked is never member and blocked', async (one, other) => {
    const members = new Set<string>()
    for (const userIds of waves()) {
      const rounds = userIds.map(async (userId) => {
        const pause = Number(userId) % 4
        const work = [blockUnlessMember(one, userId, { members, pause }), admit(other, userId, { members, pause: 1 })]
        await atOnce(work, 'CANNOT_BLOCK_MEMBER', 'ALREADY_BLOCKED')
      })
      await Promise.all(rounds)
    }
    const both = (await blockedBy(one, '20')).filter((userId) => members.has(userId))

    assert.deepEqual(both, [])
    assert.equal((await blockedBy(one, '20')).length + members.size, ROUNDS)
  }),

  ...raceCases('an issue that is deleted while it is pinned is never left on a board', async (one, other) => {
    for (const issueIds of waves()) {
      const work = issueIds.flatMap((issueId) => {
        const gone: Retired = { thing: 'issue', issueId, ...BOARD }
        const board = { ...BOARD, repositoryId: Number(issueId) % 3 === 0 ? '11' : '10' }
        return Number(issueId) % 2 === 0
          ? [pin(one, board, issueId), retire(other, gone)]
          : [retire(one, gone), pin(other, board, issueId)]
      })
      await atOnce<unknown>(work, 'ISSUE_NOT_FOUND')
    }

    for (const repositoryId of ['10', '11']) assert.deepEqual(await issuesOn(one, { ...BOARD, repositoryId }), [])
  }),
]

/** Returns the ids of all rounds, in groups that run one after the other. */
function waves(): readonly (readonly string[])[] {
  const ids = idsTo(ROUNDS)
  return Array.from({ length: ROUNDS / ROUNDS_AT_ONCE }, (_, n) =>
    ids.slice(n * ROUNDS_AT_ONCE, (n + 1) * ROUNDS_AT_ONCE),
  )
}

interface Membership {
  readonly members: Set<string>
  /** The turns of the event loop between the look-up and the change. */
  readonly pause: number
}

/**
 * Looks up the membership, and blocks the user if it is not a member. Starts again if a lifecycle call ran in between.
 */
async function blockUnlessMember<Tx>(storage: ForgeStorage<Tx>, userId: string, host: Membership): Promise<void> {
  for (;;) {
    const epoch = await storage.blocks.epoch('20')
    if (host.members.has(userId)) throw new ForgeError('CANNOT_BLOCK_MEMBER', 'a member')

    await turns(host.pause)
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
async function admit<Tx>(storage: ForgeStorage<Tx>, userId: string, { members, pause }: Membership): Promise<void> {
  await turns(pause)
  members.add(userId)
  try {
    await change(storage.blocks, { ...BLOCK, userId }, raised)
  } catch (error) {
    members.delete(userId)
    throw error
  }
}
