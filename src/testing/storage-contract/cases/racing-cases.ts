import assert from 'node:assert/strict'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { catalogueOf, define, grant, removeBadge, slugsHeldBy } from '../samples/badges.ts'
import { block, blockedBy, unblock } from '../samples/blocks.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, pin, unpin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import { blockByUser, blockedByUser } from '../samples/user-blocks.ts'
import { meeting } from './gate.ts'
import { assertRefused, atOnce, idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'

const USED = { ...BOARD, repositoryId: '77' }

/**
 * Cases about concurrent writers on one aggregate: each decides on the state that the previous one left.
 * Source: docs/storage.md, section 1
 */
export const racingCases: readonly StorageCase[] = [
  ...raceCases('thirty concurrent pins at a limit of 3, on a board that was never used, pin exactly 3', (one, other) =>
    thirtyPins(one, other, BOARD),
  ),

  ...raceCases(
    'thirty concurrent pins at a limit of 3, on a board that was used before, pin exactly 3',
    async (one, other) => {
      await pin(one, USED, '99')
      await unpin(other, USED, '99')
      await thirtyPins(one, other, USED)
    },
  ),

  ...raceCases('a pin that waited for another sees it', async (one, other) => {
    for (const repositoryId of idsTo(3)) {
      const board = { ...BOARD, repositoryId }
      await other.pinBoards.load(board) // connects before the second call
      const [first, second] = await meeting(
        (beforeCommit) => pin(one, board, '1', { limit: 1, beforeCommit }),
        () => pin(other, board, '2', { limit: 1 }),
      )
      const refused = 'thrown' in first

      if (refused) assert.deepEqual(second, { value: 1 })
      else assertRefused(second, 'PIN_LIMIT_REACHED')
      assert.deepEqual(await issuesOn(other, board), refused ? ['2'] : ['1'])
    }
  }),

  ...raceCases('a block that waited for another of its organization comes after it', async (one, other) => {
    for (const organizationId of idsTo(3)) {
      await other.blocks.epoch(organizationId) // connects before the second call
      const [first, second] = await meeting(
        (beforeCommit) => block(one, organizationId, '31', { beforeCommit }),
        () => block(other, organizationId, '32'),
      )

      assert.deepEqual(second, { value: undefined })
      assert.deepEqual(await blockedBy(other, organizationId), 'thrown' in first ? ['32'] : ['31', '32'])
    }
  }),

  ...raceCases(
    'a badge that is removed while it is being granted is held, or no grant succeeded',
    async (one, other) => {
      for (const slug of ['a', 'b', 'c']) {
        await define(one, slug)
        const [first, removal] = await meeting(
          (beforeCommit) => grant(one, '30', [slug], { beforeCommit }),
          () => removeBadge(other, slug),
        )
        const granted = 'value' in first

        if (granted) assertRefused(removal, 'BADGE_IN_USE')
        else assert.deepEqual(removal, { value: undefined })
        assert.equal((await slugsHeldBy(one, '30')).includes(slug), granted)
        assert.equal((await other.badgeCatalogue.find(slug)) !== undefined, granted)
      }
    },
  ),

  ...raceCases(
    'blocks of eight users by each other, and the deletions of three of them, all succeed',
    async (one, other) => {
      const users = idsTo(8)
      const pairs = users.flatMap((blockerId) => users.map((userId) => [blockerId, userId] as const))
      const blocking = pairs.filter(([blockerId, userId]) => blockerId !== userId)
      const work = [
        ...blocking.map(([blockerId, userId], n) => blockByUser(side(String(n), one, other), blockerId, userId)),
        ...['2', '5', '7'].map((userId) => retire(side(userId, one, other), { thing: 'user', userId })),
      ]
      await atOnce<unknown>(work, 'USER_NOT_FOUND')

      const left = users.filter((userId) => !['2', '5', '7'].includes(userId))
      for (const blockerId of left) {
        const others = left.filter((userId) => userId !== blockerId)
        assert.deepEqual(new Set(await blockedByUser(other, blockerId)), new Set(others))
        const { total } = await one.userBlocks.page(blockerId, { from: { page: 1 }, limit: 1 })
        assert.equal(total, others.length)
      }
      const { byUser } = await one.userBlocks.among({ blockerId: '2' }, users)
      assert.deepEqual(byUser, new Set())
    },
  ),

  ...raceCases('definitions created concurrently have different ids', async (one, other) => {
    const ids = await atOnce(idsTo(20).map((n) => define(side(n, one, other), `slug-${n}`)))

    assert.equal(new Set(ids).size, 20)
    for (const id of ids) assert.match(id, /^[1-9][0-9]*$/)
    assert.equal((await catalogueOf(other)).length, 20)
  }),

  ...raceCases('changes that lock several aggregates, in any order, all succeed', async (one, other) => {
    for (let round = 1; round <= 4; round += 1) {
      const organizationIds = idsTo(6).map((n) => `${round}${n}`)
      const [user, second, third] = [`${round}001`, `${round}002`, `${round}003`] as const
      await atOnce(organizationIds.map((organizationId) => block(one, organizationId, user)))
      await atOnce(organizationIds.toReversed().map((organizationId) => block(other, organizationId, second)))
      const work = [
        retire(one, { thing: 'user', userId: user }),
        ...organizationIds.map((organizationId) => block(other, organizationId, third)),
        retire(other, { thing: 'user', userId: second }),
        ...organizationIds.toReversed().map((organizationId) => unblock(one, organizationId, user)),
        retire(one, { thing: 'organization', organizationId: `${round}3` }),
        retire(other, { thing: 'user', userId: third }),
      ]
      await atOnce<unknown>(work, 'USER_NOT_FOUND', 'ORGANIZATION_NOT_FOUND')
    }
  }),
]

/** Returns the side that a writer belongs to. */
function side<Tx>(n: string, one: ForgeStorage<Tx>, other: ForgeStorage<Tx>): ForgeStorage<Tx> {
  return Number(n) % 2 === 0 ? one : other
}

async function thirtyPins<Tx>(one: ForgeStorage<Tx>, other: ForgeStorage<Tx>, board: typeof BOARD): Promise<void> {
  const before = (await outbox(one)).length
  const pins = idsTo(30).map((issueId) => pin(side(issueId, one, other), board, issueId, { limit: 3 }))
  const positions = await atOnce(pins, 'PIN_LIMIT_REACHED')

  assert.deepEqual(positions.toSorted(), [1, 2, 3])
  assert.equal((await issuesOn(one, board)).length, 3)
  const recorded = (await outbox(other)).slice(before)
  assert.deepEqual(
    recorded.map((event) => event.data),
    [{ position: 1 }, { position: 2 }, { position: 3 }],
  )
  assert.deepEqual(
    recorded.map((event) => event.issueId),
    await issuesOn(other, board),
  )
}
