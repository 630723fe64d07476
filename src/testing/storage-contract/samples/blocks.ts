import assert from 'node:assert/strict'
import type { Decision, EventDraft, Id, OrganizationBlock } from '../../../index.ts'
import { assertNotBlocked, blockUser, unblockUser } from '../../../index.ts'
import type { BlockKey, BlockState, ForgeStorage } from '../../../storage/storage.ts'
import type { Draw } from './draw.ts'
import { TEXTS } from './draw.ts'
import type { AggregateSample, Extras, Names } from './sample.ts'
import { AUTHOR, about, altered, change, kind, left, NOON, replaced, sampleOf } from './sample.ts'

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
  const decide = (before: BlockState, at: Date) =>
    about(key, after(before, blockUser(before.block, { ...key, note, blockedAt: at, blockedBy }, false)))
  await change(storage.blocks, key, decide, extras)
}

/** Removes a block, if it exists. */
export async function unblock<Tx>(
  storage: ForgeStorage<Tx>,
  organizationId: Id,
  userId: Id,
  extras: Extras<Tx> = {},
): Promise<void> {
  const key = { organizationId, userId }
  const decide = (before: BlockState): Decision<BlockState, unknown, EventDraft> =>
    before.block === undefined ? left(before) : about(key, after(before, unblockUser(before.block)))
  await change(storage.blocks, key, decide, extras)
}

/** Decides to raise the epoch, unless the user is blocked. Returns the new epoch. */
export function raised(before: BlockState): { state: BlockState; events: []; result: number } {
  assertNotBlocked(before.block)
  const epoch = before.epoch + 1
  return { state: { ...before, epoch }, events: [], result: epoch }
}

/** Returns all blocks of an organization in order, after a check against the total. */
export async function blocksOf<Tx>(
  storage: ForgeStorage<Tx>,
  organizationId: Id,
): Promise<readonly OrganizationBlock[]> {
  const { items, total } = await storage.blocks.page(organizationId, { from: { page: 1 }, limit: 1000 })
  assert.equal(total, items.length, 'the total counts the blocks')
  return items
}

/** Returns the users that an organization blocks, in order. */
export async function blockedBy<Tx>(storage: ForgeStorage<Tx>, organizationId: Id): Promise<readonly Id[]> {
  return (await blocksOf(storage, organizationId)).map((one) => one.userId)
}

/** The blocks by organizations. */
export const blocks: AggregateSample = sampleOf<BlockKey, BlockState>({
  name: 'a block',
  store: (storage) => storage.blocks,
  key: BLOCK,
  alter(before) {
    const epoch = before.epoch + 1
    if (before.block !== undefined)
      return altered({ block: undefined, epoch }, { type: 'user.unblocked', data: {} }, BLOCK)

    const block = { ...BLOCK, note: 'why', blockedAt: new Date(NOON), blockedBy: null }
    return altered({ block, epoch }, { type: 'user.blocked', data: { note: 'why' } }, BLOCK)
  },
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
    block: kind(12, drawnBlock, (to, { organizationId, userId, note }, extras) =>
      block(to, organizationId, userId, { ...extras, note }),
    ),
    unblock: kind(5, drawnKey, (to, { organizationId, userId }, extras) => unblock(to, organizationId, userId, extras)),
    /** Replaces the note of a block, and who blocked when. The block keeps its position. */
    renote: kind(
      3,
      (draw, names) => ({ ...drawnBlock(draw, names), blockedAt: new Date(draw.below(60_000)) }),
      (to, { note, blockedAt, ...key }, extras) => {
        const decide = ({ block, epoch }: BlockState) =>
          replaced({ block: block && { ...block, note, blockedAt }, epoch })
        return change(to.blocks, key, decide, extras)
      },
    ),
    admit: kind(2, drawnKey, (to, key, extras) => change(to.blocks, key, raised, extras)),
  },
})

function keysOf({ organizations, users }: Names): readonly BlockKey[] {
  return organizations.flatMap((organizationId) => users.map((userId) => ({ organizationId, userId })))
}

function drawnKey(draw: Draw, { organizations, users }: Names): BlockKey {
  return { organizationId: draw.one(organizations), userId: draw.one(users) }
}

function drawnBlock(draw: Draw, names: Names): BlockKey & Pick<OrganizationBlock, 'note'> {
  return { ...drawnKey(draw, names), note: draw.one(TEXTS) }
}

/** The block of a rule's decision beside the epoch of the organization. */
function after<Result>(
  before: BlockState,
  { state, ...decided }: Decision<OrganizationBlock | undefined, Result>,
): Decision<BlockState, Result> {
  return { state: { ...before, block: state }, ...decided }
}
