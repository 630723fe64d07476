import assert from 'node:assert/strict'
import type { Block, ForgeEvent, Id } from '../../../index.ts'
import type { ForgeStorage, PinBoardKey } from '../../../storage/storage.ts'

/** Returns the issues on a board, in order. */
export async function issuesOn<Tx>(
  storage: ForgeStorage<Tx>,
  board: PinBoardKey,
  transaction?: Tx,
): Promise<readonly Id[]> {
  return (await storage.pinBoards.load(board, transaction)).map((row) => row.issueId)
}

/** Returns all blocks of an organization in order, after a check against the total. */
export async function blocksOf<Tx>(storage: ForgeStorage<Tx>, organizationId: Id): Promise<readonly Block[]> {
  const { items, total } = await storage.blocks.page(organizationId, { from: { page: 1 }, limit: 1000 })
  assert.equal(total, items.length, 'the total counts the blocks')
  return items
}

/** Returns the users that an organization blocks, in order. */
export async function blockedBy<Tx>(storage: ForgeStorage<Tx>, organizationId: Id): Promise<readonly Id[]> {
  return (await blocksOf(storage, organizationId)).map((one) => one.userId)
}

/** Returns the slugs of the badges that a user holds, in order. */
export async function slugsHeldBy<Tx>(storage: ForgeStorage<Tx>, userId: Id): Promise<readonly string[]> {
  return (await storage.userBadges.heldBy(userId)).map((one) => one.badge.slug)
}

/** Returns all slugs of the catalogue in order, after a check against the total. */
export async function catalogueOf<Tx>(storage: ForgeStorage<Tx>): Promise<readonly string[]> {
  const { items, total } = await storage.badgeCatalogue.page({ from: { page: 1 }, limit: 1000 })
  assert.equal(total, items.length, 'the total counts the definitions')
  return items.map((badge) => badge.slug)
}

const MAX_EVENTS = 100_000

/** Reads every event of the outbox in pages, from the beginning to the end. */
export async function outbox<Tx>(storage: ForgeStorage<Tx>, limit = 1000): Promise<readonly ForgeEvent[]> {
  const all: ForgeEvent[] = []
  let after: string | undefined
  for (;;) {
    const { events, cursor } = await storage.events.read({ after, limit })
    assert.ok(events.length <= limit, 'a read returns no more than requested')
    if (events.length === 0) return all
    assert.notEqual(cursor, after, 'a cursor advances')
    all.push(...events)
    assert.ok(all.length < MAX_EVENTS, 'the outbox comes to an end')
    after = cursor
  }
}
