import assert from 'node:assert/strict'
import type { Block, Id } from '../../../index.ts'
import { assertNotBlocked, blockUser, unblockUser } from '../../../index.ts'
import type { BlockKey, BlockState, ForgeStorage } from '../../../storage/storage.ts'
import type { Draw } from './draw.ts'
import { TEXTS } from './draw.ts'
import type { AggregateSample, Extras, Names } from './sample.ts'
import { AUTHOR, about, altered, change, left, NOON, sampleOf } from './sample.ts'

/** The block that most cases use. */
export const BLOCK: BlockKey = { organizationId: '20', userId: '30' }

/** Blocks a user in an organization. The user must not be blocked yet. */
export async function block<Tx>(
  storage: ForgeStorage<Tx>,
  organizationId: Id,
  userId: Id,
  { note = '', ...extras }: Extras<Tx> & { readonly note?: string } = {},
): Promise<void> {
  const key = { organizationId, userId }
  const { actorId: blockedBy } = extras.by ?? AUTHOR
  await change(
    storage.blocks,
    key,
    (before, at) => {
      const { state, events } = blockUser(before.block, { ...key, note, blockedAt: at, blockedBy }, false)
      return { state: { ...before, block: state }, events: about(key, events), result: undefined }
    },
    extras,
  )
}

/** Removes a block, if it exists. */
export async function unblock<Tx>(
  storage: ForgeStorage<Tx>,
  organizationId: Id,
  userId: Id,
  extras: Extras<Tx> = {},
): Promise<void> {
  const key = { organizationId, userId }
  await change<BlockKey, BlockState, unknown, Tx>(
    storage.blocks,
    key,
    (before) => {
      if (before.block === undefined) return left(before)

      const { state, events } = unblockUser(before.block)
      return { state: { ...before, block: state }, events: about(key, events), result: undefined }
    },
    extras,
  )
}

/** Decides to raise the epoch, unless the user is blocked. Returns the new epoch. */
export function raised(before: BlockState): { state: BlockState; events: []; result: number } {
  assertNotBlocked(before.block)
  const epoch = before.epoch + 1
  return { state: { ...before, epoch }, events: [], result: epoch }
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

/** The blocks. */
export const blocks: AggregateSample = sampleOf<BlockKey, BlockState>({
  name: 'a block',
  store: (storage) => storage.blocks,
  key: BLOCK,
  alter: (before) =>
    before.block === undefined
      ? altered(
          { ...before, block: { ...BLOCK, note: 'why', blockedAt: new Date(NOON), blockedBy: null } },
          { type: 'user.blocked', data: { note: 'why' } },
          BLOCK,
        )
      : altered({ ...before, block: undefined }, { type: 'user.unblocked', data: {} }, BLOCK),
  keys: keysOf,
  reads: (storage, names, transaction) => [
    ...names.organizations.flatMap((organizationId) => [
      [`blocked by ${organizationId}`, () => storage.blocks.among(organizationId, names.users, transaction)] as const,
      [`epoch of ${organizationId}`, () => storage.blocks.epoch(organizationId, transaction)] as const,
    ]),
    ...keysOf(names).map((key) => [JSON.stringify(key), () => storage.blocks.find(key, transaction)] as const),
  ],
  lists: (storage, { organizations }, transaction) =>
    organizations.map((organizationId) => [
      `blocks of ${organizationId}`,
      (query) => storage.blocks.page(organizationId, query, transaction),
    ]),
  kinds: {
    block: {
      share: 12,
      draw(draw, names) {
        const [key, note] = [drawnKey(draw, names), draw.one(TEXTS)]
        return [{ ...key, note }, (to, extras) => block(to, key.organizationId, key.userId, { ...extras, note })]
      },
    },
    unblock: {
      share: 5,
      draw(draw, names) {
        const key = drawnKey(draw, names)
        return [key, (to, extras) => unblock(to, key.organizationId, key.userId, extras)]
      },
    },
    /** Replaces the note of a block, and who blocked when. The block keeps its place. */
    renote: {
      share: 3,
      draw(draw, names) {
        const [key, note, blockedAt] = [drawnKey(draw, names), draw.one(TEXTS), new Date(draw.below(60_000))]
        const decide = (state: BlockState) => {
          const replaced = state.block && { ...state, block: { ...state.block, note, blockedAt } }
          return { state: replaced ?? state, events: [], result: undefined }
        }
        return [{ ...key, note, blockedAt }, (to, extras) => change(to.blocks, key, decide, extras)]
      },
    },
    admit: {
      share: 2,
      draw(draw, names) {
        const key = drawnKey(draw, names)
        return [key, (to, extras) => change(to.blocks, key, raised, extras)]
      },
    },
  },
})

function keysOf({ organizations, users }: Names): readonly BlockKey[] {
  return organizations.flatMap((organizationId) => users.map((userId) => ({ organizationId, userId })))
}

function drawnKey(draw: Draw, { organizations, users }: Names): BlockKey {
  return { organizationId: draw.one(organizations), userId: draw.one(users) }
}
