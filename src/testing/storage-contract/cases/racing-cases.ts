import assert from 'node:assert/strict'
import type { ForgeEvent, Id } from '../../../index.ts'
import { memoryStorage } from '../../../storage/memory.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { catalogueOf, define, grant, removeBadge, revoke, slugsHeldBy } from '../samples/badges.ts'
import { block, blockByUser, blockedBy, blockedByUser, unblock, unblockByUser } from '../samples/blocks.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, moveToFront, pin, unpin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import type { Choices } from '../samples/sample.ts'
import { Draw } from '../samples/sample.ts'
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
  const expected = (await issuesOn(other, board)).map((issueId, index) => [issueId, { position: index + 1 }])
  const found = recorded.map(({ issueId, data }) => [issueId, data])
  assert.deepEqual(found, expected)
}

const SLUGS = ['a', 'b', 'c']
const FEW: Choices<Id> = ['1', '2', '3', '4', '5']

/**
 * Returns cases that make the changes again which the events report, one after the other, on `memoryStorage`: no event is
 * missing, and none is superfluous.
 *
 * @param reports - whether deletions are among the changes, which are reported to the storage
 */
export function replayCases(reports: 'with reports' | 'without'): readonly StorageCase[] {
  return [1, 2, 3].flatMap((seed) =>
    raceCases(`after random changes (seed ${seed}) the events explain the state`, async (one, other) => {
      const draw = new Draw(seed)
      for (const slug of SLUGS) await define(one, slug)
      for (let wave = 0; wave < 20; wave += 1) {
        const work = Array.from({ length: 12 }, () => churn(draw.one([one, other]), draw, reports))
        await atOnce(work, 'PIN_LIMIT_REACHED', 'ALREADY_BLOCKED', 'USER_NOT_FOUND', 'ISSUE_NOT_FOUND')
      }
      const [events, reference] = [await outbox(other), memoryStorage()]
      for (const event of events) await again(reference, event)

      assert.deepEqual(withoutIds(await outbox(reference)), withoutIds(events))
      for (const id of FEW) {
        const board = { ...BOARD, repositoryId: id }
        assert.deepEqual(await issuesOn(one, board), await issuesOn(reference, board))
        assert.deepEqual(await blockedBy(one, id), await blockedBy(reference, id))
        assert.deepEqual(await blocksBy(one, id), await blocksBy(reference, id))
      }
      assert.deepEqual(await slugsHeld(other), await slugsHeld(reference))
    }),
  )
}

/** Makes a random change of one of a few boards, organizations or users. */
function churn<Tx>(storage: ForgeStorage<Tx>, draw: Draw, reports: 'with reports' | 'without'): Promise<unknown> {
  const [id, other] = [draw.one(FEW), draw.one(FEW)]
  const board = { ...BOARD, repositoryId: other }
  const slugs = draw.some(SLUGS)
  const retires = (one: number) => draw.below(one) === 0 && reports === 'with reports'
  if (retires(60)) return retire(storage, { thing: 'issue', issueId: id, ...board })
  if (retires(90)) return retire(storage, { thing: 'user', userId: id })
  const changes: Choices<() => Promise<unknown>> = [
    () => pin(storage, board, id, { limit: 4 }),
    () => pin(storage, board, id, { limit: 4 }),
    () => unpin(storage, board, id),
    () => moveToFront(storage, board, id),
    () => block(storage, other, id),
    () => unblock(storage, other, id),
    () => blockByUser(storage, other, id),
    () => unblockByUser(storage, other, id),
    () => grant(storage, id, slugs),
    () => revoke(storage, id, slugs),
  ]
  return draw.one(changes)()
}

function withoutIds(events: readonly ForgeEvent[]): readonly object[] {
  return events.map((event) => ({ ...event, id: undefined }))
}

/** Returns the slugs that each of a few users holds, in order. */
async function slugsHeld<Tx>(storage: ForgeStorage<Tx>): Promise<readonly unknown[]> {
  return (await storage.userBadges.heldByMany(FEW)).map((grants) => grants.map(({ badge }) => badge.slug))
}

/** Returns which of a few users a user blocks, who may be retired. */
async function blocksBy<Tx>(storage: ForgeStorage<Tx>, blockerId: Id): Promise<readonly Id[]> {
  return [...(await storage.userBlocks.among({ blockerId }, FEW)).byUser].sort()
}

/** Makes the change that an event reports. */
async function again<Tx>(storage: ForgeStorage<Tx>, event: ForgeEvent): Promise<unknown> {
  const { organizationId, repositoryId, issueId, userId } = event
  const board = { ...BOARD, repositoryId: repositoryId ?? '' }
  const [issue, organization, user] = [issueId ?? '', organizationId ?? '', userId ?? '']
  switch (event.type) {
    case 'issue.pinned':
      return pin(storage, board, issue)
    case 'issue.unpinned':
      return unpin(storage, board, issue)
    case 'issue.moved':
      return moveToFront(storage, board, issue)
    case 'issue.deleted':
      return retire(storage, { thing: 'issue', issueId: issue, ...board })
    case 'user.blocked':
      if (event.data.blockerId !== undefined) return blockByUser(storage, event.data.blockerId, user)
      return block(storage, organization, user)
    case 'user.unblocked':
      if (event.data.blockerId !== undefined) return unblockByUser(storage, event.data.blockerId, user)
      return unblock(storage, organization, user)
    case 'user.deleted':
      return retire(storage, { thing: 'user', userId: user })
    case 'badge.defined':
      return define(storage, event.data.slug)
    case 'badge.granted':
      return grant(storage, user, [event.data.slug])
    case 'badge.revoked':
      return revoke(storage, user, [event.data.slug])
    default:
      throw new TypeError(`no change of this case writes ${event.type}`)
  }
}
