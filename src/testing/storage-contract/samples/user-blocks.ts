import type { Decision, EventDraft, Id, UserBlock } from '../../../index.ts'
import { blockUser, unblockUser } from '../../../index.ts'
import type { ForgeStorage, UserBlockKey } from '../../../storage/storage.ts'
import type { Draw } from './draw.ts'
import { TEXTS } from './draw.ts'
import type { AggregateSample, Extras, Names } from './sample.ts'
import { AUTHOR, about, altered, change, kind, left, NOON, replaced, sampleOf } from './sample.ts'

/** The block that most cases use. */
const USER_BLOCK: UserBlockKey = { blockerId: '31', userId: '30' }

/** Blocks a user for another user. The user must not be blocked yet. */
export async function blockByUser<Tx>(
  storage: ForgeStorage<Tx>,
  blockerId: Id,
  userId: Id,
  { note = '', ...extras }: Extras<Tx> & { readonly note?: string } = {},
): Promise<void> {
  const key = { blockerId, userId }
  const { actorId: blockedBy } = extras.by ?? AUTHOR
  const decide = (before: UserBlock | undefined, at: Date) =>
    about({ userId }, blockUser(before, { ...key, note, blockedAt: at, blockedBy }, false))
  await change(storage.userBlocks, key, decide, extras)
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

/** Returns the users that a user blocks, in order. */
export async function blockedByUser<Tx>(storage: ForgeStorage<Tx>, blockerId: Id): Promise<readonly Id[]> {
  const { items } = await storage.userBlocks.page(blockerId, { from: { page: 1 }, limit: 1000 })
  return items.map(({ userId }) => userId)
}

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
  keys: keysOf,
  reads: (storage, names, transaction) => [
    ...names.users.flatMap((blockerId) =>
      [undefined, ...names.organizations].map(
        (organizationId) =>
          [
            `blocked by ${blockerId} and ${organizationId}`,
            () => storage.userBlocks.among({ blockerId, organizationId }, names.users, transaction),
          ] as const,
      ),
    ),
    ...keysOf(names).map((key) => [JSON.stringify(key), () => storage.userBlocks.find(key, transaction)] as const),
  ],
  lists: (storage, { users }, transaction) =>
    users.map((blockerId) => [
      `blocks by ${blockerId}`,
      (query) => storage.userBlocks.page(blockerId, query, transaction),
    ]),
  kinds: {
    blockByUser: kind(8, drawnBlock, (to, { blockerId, userId, note }, extras) =>
      blockByUser(to, blockerId, userId, { ...extras, note }),
    ),
    unblockByUser: kind(3, drawnKey, (to, { blockerId, userId }, extras) =>
      unblockByUser(to, blockerId, userId, extras),
    ),
    /** Replaces the note of a block, and who blocked when. The block keeps its position. */
    renoteByUser: kind(
      2,
      (draw, names) => ({ ...drawnBlock(draw, names), blockedAt: new Date(draw.below(60_000)) }),
      (to, { note, blockedAt, ...key }, extras) => {
        const decide = (block: UserBlock | undefined) => replaced(block && { ...block, note, blockedAt })
        return change(to.userBlocks, key, decide, extras)
      },
    ),
  },
})

function keysOf({ users }: Names): readonly UserBlockKey[] {
  return users.flatMap((blockerId) => users.map((userId) => ({ blockerId, userId })))
}

function drawnKey(draw: Draw, { users }: Names): UserBlockKey {
  return { blockerId: draw.one(users), userId: draw.one(users) }
}

function drawnBlock(draw: Draw, names: Names): UserBlockKey & Pick<UserBlock, 'note'> {
  return { ...drawnKey(draw, names), note: draw.one(TEXTS) }
}
