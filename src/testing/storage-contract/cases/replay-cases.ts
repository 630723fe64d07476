import assert from 'node:assert/strict'
import type { ForgeEvent, Id } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { define, grant, revoke, slugsHeldBy } from '../samples/badges.ts'
import { block, blockedBy, unblock } from '../samples/blocks.ts'
import type { Choices } from '../samples/draw.ts'
import { Draw } from '../samples/draw.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, issuesOn, moveToFront, pin, unpin } from '../samples/pin-boards.ts'
import { retire } from '../samples/retirements.ts'
import { atOnce, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'

const SLUGS = ['a', 'b', 'c']
const FEW: Choices<Id> = ['1', '2', '3', '4', '5']

/** Cases that rebuild the state from the events alone, in order: no event is missing, and none is superfluous. */
export const replayCases: readonly StorageCase[] = [1, 2, 3].flatMap((seed) =>
  raceCases(`after random changes (seed ${seed}) the events explain the state`, async (one, other) => {
    const draw = new Draw(seed)
    for (const slug of SLUGS) await define(one, slug)
    for (let wave = 0; wave < 20; wave += 1) {
      const work = Array.from({ length: 12 }, () => churn(draw.one([one, other]), draw))
      await atOnce(work, 'PIN_LIMIT_REACHED', 'ALREADY_BLOCKED', 'USER_NOT_FOUND', 'ISSUE_NOT_FOUND')
    }
    const rebuilt = new RebuiltState()
    for (const event of await outbox(other)) rebuilt.apply(event)

    for (const id of FEW) {
      assert.deepEqual(await issuesOn(one, { ...BOARD, repositoryId: id }), rebuilt.boards.get(id) ?? [])
      assert.deepEqual(await blockedBy(one, id), rebuilt.blocks.get(id) ?? [])
      if (!rebuilt.gone.has(id)) assert.deepEqual(await slugsHeldBy(other, id), rebuilt.grants.get(id) ?? [])
    }
  }),
)

/** Makes a random change of one of a few boards, organizations or users. */
function churn<Tx>(storage: ForgeStorage<Tx>, draw: Draw): Promise<unknown> {
  const [id, other] = [draw.one(FEW), draw.one(FEW)]
  const board = { ...BOARD, repositoryId: other }
  const slugs = draw.some(SLUGS)
  if (draw.below(60) === 0) return retire(storage, { thing: 'issue', issueId: id, ...board })
  if (draw.below(90) === 0) return retire(storage, { thing: 'user', userId: id })
  const changes: Choices<() => Promise<unknown>> = [
    () => pin(storage, board, id, { limit: 4 }),
    () => pin(storage, board, id, { limit: 4 }),
    () => unpin(storage, board, id),
    () => moveToFront(storage, board, id),
    () => block(storage, other, id),
    () => unblock(storage, other, id),
    () => grant(storage, id, slugs),
    () => revoke(storage, id, slugs),
  ]
  return draw.one(changes)()
}

/** The state that is rebuilt from the events. */
class RebuiltState {
  readonly boards = new Map<Id | null, (Id | null)[]>()
  readonly blocks = new Map<Id | null, (Id | null)[]>()
  readonly grants = new Map<Id | null, string[]>()
  readonly gone = new Set<Id | null>()

  apply(event: ForgeEvent): void {
    if (event.type.startsWith('issue.')) this.#applyPins(event)
    else if (event.type.startsWith('badge.')) this.#applyBadges(event)
    else this.#applyUsers(event)
  }

  #applyPins(event: ForgeEvent): void {
    const { issueId } = event
    const board = entry(this.boards, event.repositoryId)
    if (event.type === 'issue.pinned') assert.equal(board.push(issueId), event.data.position)
    if (event.type === 'issue.unpinned') assert.deepEqual(board.splice(event.data.position - 1, 1), [issueId])
    if (event.type === 'issue.moved') {
      assert.deepEqual(board.splice(event.data.from - 1, 1), [issueId])
      board.splice(event.data.to - 1, 0, issueId)
    }
    if (event.type === 'issue.deleted') {
      const boards = [...this.boards.values()].filter((rows) => rows.includes(issueId))
      assert.equal(event.data.wasPinned, boards.length > 0)
      for (const rows of boards) rows.splice(rows.indexOf(issueId), 1)
    }
  }

  #applyBadges(event: ForgeEvent): void {
    const held = entry(this.grants, event.userId)
    if (event.type === 'badge.granted') held.push(event.data.slug)
    if (event.type === 'badge.revoked')
      assert.deepEqual(held.splice(held.indexOf(event.data.slug), 1), [event.data.slug])
  }

  #applyUsers(event: ForgeEvent): void {
    const { userId } = event
    const blocked = entry(this.blocks, event.organizationId)
    if (event.type === 'user.blocked') blocked.push(userId)
    if (event.type === 'user.unblocked') assert.deepEqual(blocked.splice(blocked.indexOf(userId), 1), [userId])
    if (event.type === 'user.deleted') {
      const lists = [...this.blocks.values()].filter((rows) => rows.includes(userId))
      assert.deepEqual(event.data, { blocks: lists.length, grants: entry(this.grants, userId).length })
      for (const rows of lists) rows.splice(rows.indexOf(userId), 1)
      this.gone.add(userId)
    }
  }
}

function entry<T>(lists: Map<Id | null, T[]>, id: Id | null): T[] {
  const known = lists.get(id)
  if (known !== undefined) return known

  const fresh: T[] = []
  lists.set(id, fresh)
  return fresh
}
