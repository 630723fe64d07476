import assert from 'node:assert/strict'
import type { Decision, EventDraft, Id, OrganizationBlock, UserBlock } from '../../../index.ts'
import { assertNotBlocked, blockUser, unblockUser } from '../../../index.ts'
import type { BlockKey, BlockState, ForgeStorage, UserBlockKey } from '../../../storage/storage.ts'
import type { AggregateSample, Draw, Extras, Names } from './sample.ts'
import { AUTHOR, about, altered, change, kind, left, NOON, replaced, sampleOf, TEXTS } from './sample.ts'

/** The block that most cases use. */
export const BLOCK: BlockKey = { organizationId: '20', userId: '30' }

/** The block by a user that the sample changes. */
const USER_BLOCK: UserBlockKey = { blockerId: '31', userId: '30' }

type BlockExtras<Tx> = Extras<Tx> & { readonly note?: string }

/** Blocks a user in an organization. The user must not be blocked yet. */
export async function block<Tx>(
  storage: ForgeStorage<Tx>,
  organizationId: Id,
  userId: Id,
  { note = '', ...extras }: BlockExtras<Tx> = {},
): Promise<void> {
  const key = { organizationId, userId }
  const { actorId: blockedBy } = extras.by ?? AUTHOR
  const decide = (before: BlockState, at: Date) =>
    about(key, after(before, blockUser(before.block, { ...key, note, blockedAt: at, blockedBy }, false)))
  await change(storage.blocks, key, decide, extras)
}

/** Blocks a user for another user. The user must not be blocked yet. */
export async function blockByUser<Tx>(
  storage: ForgeStorage<Tx>,
  blockerId: Id,
  userId: Id,
  { note = '', ...extras }: BlockExtras<Tx> = {},
): Promise<void> {
  const key = { blockerId, userId }
  const { actorId: blockedBy } = extras.by ?? AUTHOR
  const decide = (before: UserBlock | undefined, at: Date) =>
    about({ userId }, blockUser(before, { ...key, note, blockedAt: at, blockedBy }, false))
  await change(storage.userBlocks, key, decide, extras)
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

/** Removes a block by a user, if it exists. */
export async function unblockByUser<Tx>(
  storage: ForgeStorage<Tx>,
  blockerId: Id,
  userId: Id,
  extras: Extras<Tx> = {},
): Promise<void> {
  const decide = (before: UserBlock | undefined): Decision<UserBlock | undefined, unknown, EventDraft> =>
    before === undefined ? left(before) : about({ userId }, unblockUser(before))
  await change(storage.userBlocks, { blockerId, userId }, decide, extras)
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

/** Returns the users that a user blocks, in order. */
export async function blockedByUser<Tx>(storage: ForgeStorage<Tx>, blockerId: Id): Promise<readonly Id[]> {
  const { items } = await storage.userBlocks.page(blockerId, { from: { page: 1 }, limit: 1000 })
  return items.map(({ userId }) => userId)
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
    organizations.map((id) => [`blocks of ${id}`, (query) => storage.blocks.page(id, query, transaction)]),
  kinds: {
    block: kind(12, withNote(drawnKey), (to, { organizationId, userId, note }, extras) =>
      block(to, organizationId, userId, { ...extras, note }),
    ),
    unblock: kind(5, drawnKey, (to, { organizationId, userId }, extras) => unblock(to, organizationId, userId, extras)),
    /** Replaces the note of a block, and who blocked when. The block keeps its position. */
    renote: kind(3, withNoteAndTime(drawnKey), (to, { note, blockedAt, ...key }, extras) => {
      const decide = ({ block, epoch }: BlockState) =>
        replaced({ block: block && { ...block, note, blockedAt }, epoch })
      return change(to.blocks, key, decide, extras)
    }),
    admit: kind(2, drawnKey, (to, key, extras) => change(to.blocks, key, raised, extras)),
  },
})

/** The blocks by users. */
export const userBlocks: AggregateSample = sampleOf<UserBlockKey, UserBlock | undefined>({
  name: 'a block by a user',
  store: (storage) => storage.userBlocks,
  key: USER_BLOCK,
  alter(before) {
    const { blockerId, userId } = USER_BLOCK
    if (before !== undefined) return altered(undefined, { type: 'user.unblocked', data: { blockerId } }, { userId })

    const block = { ...USER_BLOCK, note: 'why', blockedAt: new Date(NOON), blockedBy: null }
    return altered(block, { type: 'user.blocked', data: { note: 'why', blockerId } }, { userId })
  },
  keys: userKeysOf,
  reads: (storage, names, transaction) => [
    ...names.users.flatMap((blockerId) =>
      [undefined, ...names.organizations].map((organizationId) => {
        const read = () => storage.userBlocks.among({ blockerId, organizationId }, names.users, transaction)
        return [`blocked by ${blockerId} and ${organizationId}`, read] as const
      }),
    ),
    ...userKeysOf(names).map((key) => [JSON.stringify(key), () => storage.userBlocks.find(key, transaction)] as const),
  ],
  lists: (storage, { users }, transaction) =>
    users.map((id) => [`blocks by ${id}`, (query) => storage.userBlocks.page(id, query, transaction)]),
  kinds: {
    blockByUser: kind(8, withNote(drawnUserKey), (to, { blockerId, userId, note }, extras) =>
      blockByUser(to, blockerId, userId, { ...extras, note }),
    ),
    unblockByUser: kind(3, drawnUserKey, (to, { blockerId, userId }, extras) =>
      unblockByUser(to, blockerId, userId, extras),
    ),
    /** Replaces the note of a block, and who blocked when. The block keeps its position. */
    renoteByUser: kind(2, withNoteAndTime(drawnUserKey), (to, { note, blockedAt, ...key }, extras) => {
      const decide = (block: UserBlock | undefined) => replaced(block && { ...block, note, blockedAt })
      return change(to.userBlocks, key, decide, extras)
    }),
  },
})

function keysOf({ organizations, users }: Names): readonly BlockKey[] {
  return organizations.flatMap((organizationId) => users.map((userId) => ({ organizationId, userId })))
}

function userKeysOf({ users }: Names): readonly UserBlockKey[] {
  return users.flatMap((blockerId) => users.map((userId) => ({ blockerId, userId })))
}

function drawnKey(draw: Draw, { organizations, users }: Names): BlockKey {
  return { organizationId: draw.one(organizations), userId: draw.one(users) }
}

function drawnUserKey(draw: Draw, { users }: Names): UserBlockKey {
  return { blockerId: draw.one(users), userId: draw.one(users) }
}

/** Draws a note beside a key. */
function withNote<Key extends object>(drawn: (draw: Draw, names: Names) => Key) {
  return (draw: Draw, names: Names): Key & { readonly note: string } => ({
    ...drawn(draw, names),
    note: draw.one(TEXTS),
  })
}

function withNoteAndTime<Key extends object>(drawn: (draw: Draw, names: Names) => Key) {
  return (draw: Draw, names: Names): Key & Pick<OrganizationBlock, 'note' | 'blockedAt'> => ({
    ...withNote(drawn)(draw, names),
    blockedAt: new Date(draw.below(60_000)),
  })
}

/** The block of a rule's decision beside the epoch of the organization. */
function after<Result>(
  before: BlockState,
  { state, ...decided }: Decision<OrganizationBlock | undefined, Result>,
): Decision<BlockState, Result> {
  return { state: { ...before, block: state }, ...decided }
}
