import type { Badge, Block, Decision, EventDraft, ForgeEvent, Grant, MaybePromise } from '../../../index.ts'
import type {
  AggregateStore,
  BadgeCatalogueKey,
  BadgeCatalogueState,
  BlockKey,
  ForgeStorage,
  Outcome,
  PinBoardKey,
  PinRow,
  UserBadgesKey,
  UserBadgesState,
} from '../../../storage/storage.ts'
import { blocksOf, outbox } from './contents.ts'
import type { Extras } from './sample-changes.ts'
import { BOARD, change, define, NO_SUBJECT, NOON } from './sample-changes.ts'

/** One aggregate and a change of it, for rules that apply to every aggregate. */
export interface AggregateSample {
  readonly name: string
  /** Creates the data that the change needs. */
  prepare<Tx>(storage: ForgeStorage<Tx>): Promise<void>
  /** Changes the aggregate. Each call has an effect and one event. */
  alter<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx>): Promise<Outcome<string>>
  /** Like `alter`, and returns the time of the decision. */
  time<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx>): Promise<Outcome<Date>>
  /** Decides to leave the aggregate unchanged. */
  leave<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx>): Promise<Outcome<string>>
  /** Throws in the decision. */
  refuse<Tx>(storage: ForgeStorage<Tx>, error: unknown, extras?: Extras<Tx>): Promise<Outcome<never>>
  epoch<Tx>(storage: ForgeStorage<Tx>): MaybePromise<number>
}

interface Parts<Key, State> {
  readonly name: string
  readonly store: <Tx>(storage: ForgeStorage<Tx>) => AggregateStore<Key, State, Tx>
  readonly key: Key
  readonly alter: (state: State) => Decision<State, string, EventDraft>
}

function sample<Key, State>({ name, store, key, alter }: Parts<Key, State>): AggregateSample {
  return {
    name,
    prepare: async (storage) => {
      await define(storage, 'night-owl')
    },
    alter: (storage, extras) => change(store(storage), key, alter, extras),
    time: (storage, extras) =>
      change(store(storage), key, (state, at) => ({ ...alter(state), result: new Date(at) }), extras),
    leave: (storage, extras) => change(store(storage), key, (state) => ({ state, events: [], result: 'left' }), extras),
    refuse: (storage, error, extras) =>
      change(
        store(storage),
        key,
        () => {
          throw error
        },
        extras,
      ),
    epoch: (storage) => store(storage).epoch(key),
  }
}

const pinBoard = sample<PinBoardKey, readonly PinRow[]>({
  name: 'a pin board',
  store: (storage) => storage.pinBoards,
  key: BOARD,
  alter: (rows) => {
    const issueId = String(100 + rows.length)
    return {
      state: [...rows, { issueId, pinnedAt: NOON, pinnedBy: null }],
      events: [
        {
          ...NO_SUBJECT,
          type: 'issue.pinned',
          data: { position: rows.length + 1 },
          repositoryId: BOARD.repositoryId,
          issueId,
        },
      ],
      result: 'altered',
    }
  },
})

const BLOCK_KEY: BlockKey = { organizationId: '20', userId: '30' }

const block = sample<BlockKey, Block | undefined>({
  name: 'a block',
  store: (storage) => storage.blocks,
  key: BLOCK_KEY,
  alter: (before) =>
    before === undefined
      ? {
          state: { ...BLOCK_KEY, note: 'why', blockedAt: NOON, blockedBy: null },
          events: [{ ...NO_SUBJECT, type: 'user.blocked', data: { note: 'why' }, ...BLOCK_KEY }],
          result: 'altered',
        }
      : {
          state: undefined,
          events: [{ ...NO_SUBJECT, type: 'user.unblocked', data: {}, ...BLOCK_KEY }],
          result: 'altered',
        },
})

const userBadges = sample<UserBadgesKey, UserBadgesState>({
  name: 'a badge case',
  store: (storage) => storage.userBadges,
  key: { userId: '30', slugs: ['night-owl'] },
  alter: ({ known, held }) => ({
    state: { known, held: held.length > 0 ? [] : known.map((badge) => ({ badge, grantedAt: NOON, grantedBy: null })) },
    events: [
      {
        ...NO_SUBJECT,
        type: held.length > 0 ? 'badge.revoked' : 'badge.granted',
        data: { slug: 'night-owl' },
        userId: '30',
      },
    ],
    result: 'altered',
  }),
})

const badgeCatalogue = sample<BadgeCatalogueKey, BadgeCatalogueState>({
  name: 'the badge catalogue',
  store: (storage) => storage.badgeCatalogue,
  key: { slug: 'early-bird' },
  alter: (entry) => ({
    state: {
      ...entry,
      badge:
        entry.badge === undefined
          ? { id: entry.nextId, slug: 'early-bird', description: 'Up first', imageUrl: '' }
          : undefined,
    },
    events: [
      {
        ...NO_SUBJECT,
        type: entry.badge === undefined ? 'badge.defined' : 'badge.removed',
        data: { slug: 'early-bird' },
      },
    ],
    result: 'altered',
  }),
})

/** The aggregates that lifecycle calls affect. These calls raise the epoch of the aggregate. */
export const AGGREGATES_WITH_EPOCH: readonly AggregateSample[] = [pinBoard, block, userBadges]

/** Every aggregate. */
export const AGGREGATES: readonly AggregateSample[] = [...AGGREGATES_WITH_EPOCH, badgeCatalogue]

/** All data that the samples can change, for a comparison of before and after. */
export interface Everything {
  readonly board: readonly PinRow[]
  readonly blocks: readonly Block[]
  readonly held: readonly Grant[]
  readonly catalogue: readonly Badge[]
  readonly events: readonly ForgeEvent[]
  readonly epochs: readonly number[]
}

/** Reads all data that the samples can change. */
export async function everything<Tx>(storage: ForgeStorage<Tx>): Promise<Everything> {
  return {
    board: await storage.pinBoards.load(BOARD),
    blocks: await blocksOf(storage, '20'),
    held: await storage.userBadges.heldBy('30'),
    catalogue: (await storage.badgeCatalogue.page({ from: { page: 1 }, limit: 1000 })).items,
    events: await outbox(storage),
    epochs: await Promise.all(AGGREGATES.map((one) => one.epoch(storage))),
  }
}
