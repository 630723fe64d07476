import assert from 'node:assert/strict'
import type { ForgeEvent, Id } from '../../../index.ts'
import { memoryStorage } from '../../../storage/memory.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { define, grant, revoke } from '../samples/badges.ts'
import { block, blockedBy, unblock } from '../samples/blocks.ts'
import type { Choices } from '../samples/draw.ts'
import { Draw } from '../samples/draw.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, moveToFront, pin, unpin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import { blockByUser, unblockByUser } from '../samples/user-blocks.ts'
import { atOnce, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'

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
