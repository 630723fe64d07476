import type { Decision, EventDraft, ForgeEvent, MaybePromise, RuleEvent } from '../../../index.ts'
import type {
  AggregateStore,
  AggregateStores,
  BadgeCatalogueState,
  BlockState,
  ForgeStorage,
  Outcome,
  PinBoardKey,
  PinRow,
  Retired,
  UserBadgesState,
} from '../../../storage/storage.ts'
import { blocksOf, outbox } from './contents.ts'
import type { Extras } from './sample-changes.ts'
import { BOARD, block, change, define, grant, left, NO_SUBJECT, NOON, pin } from './sample-changes.ts'

/** One aggregate and a change of it, for rules that apply to every aggregate. */
export interface AggregateSample {
  readonly name: string
  /** Creates the data that the change needs. */
  prepare<Tx>(storage: ForgeStorage<Tx>): Promise<unknown>
  /** Changes the aggregate. Each call has an effect and one event. */
  alter<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx>): Promise<Outcome<string>>
  /** Like `alter`, and returns the time of the decision. */
  time<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx>): Promise<Outcome<Date>>
  /** Decides to leave the aggregate unchanged. */
  leave<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx>): Promise<Outcome<unknown>>
  /** Throws in the decision. */
  refuse<Tx>(storage: ForgeStorage<Tx>, error: unknown, extras?: Extras<Tx>): Promise<Outcome<never>>
  /** Reads all data that the changes of this sample can change. */
  contents<Tx>(storage: ForgeStorage<Tx>): MaybePromise<unknown>
}

/** What a sample is made of: a store, one of its keys, and a change of that aggregate. */
interface Parts<Key, State> extends Pick<AggregateSample, 'name' | 'contents'> {
  readonly store: <Tx>(storage: ForgeStorage<Tx>) => AggregateStore<Key, State, Tx>
  readonly key: Key
  readonly alter: (state: State) => Decision<State, string, EventDraft>
}

const BLOCK = { organizationId: '20', userId: '30' }
const REPOSITORY = { repositoryId: BOARD.repositoryId }

/** The sample of every store. A new store does not compile until it is here. */
const SAMPLES: Readonly<Record<keyof AggregateStores<unknown>, AggregateSample>> = {
  pinBoards: sampleOf<PinBoardKey, readonly PinRow[]>({
    name: 'a pin board',
    store: (storage) => storage.pinBoards,
    key: BOARD,
    contents: (storage) => storage.pinBoards.load(BOARD),
    alter(rows) {
      const issueId = String(100 + rows.length)
      const event = { type: 'issue.pinned', data: { position: rows.length + 1 } } as const
      return altered([...rows, { issueId, pinnedAt: NOON, pinnedBy: null }], event, { ...REPOSITORY, issueId })
    },
  }),
  blocks: sampleOf<typeof BLOCK, BlockState>({
    name: 'a block',
    store: (storage) => storage.blocks,
    key: BLOCK,
    contents: (storage) => blocksOf(storage, BLOCK.organizationId),
    alter: (before) =>
      before.block === undefined
        ? altered(
            { ...before, block: { ...BLOCK, note: 'why', blockedAt: NOON, blockedBy: null } },
            { type: 'user.blocked', data: { note: 'why' } },
            BLOCK,
          )
        : altered({ ...before, block: undefined }, { type: 'user.unblocked', data: {} }, BLOCK),
  }),
  userBadges: sampleOf<{ userId: string; slugs: string[] }, UserBadgesState>({
    name: 'a user’s badges',
    store: (storage) => storage.userBadges,
    key: { userId: '30', slugs: ['night-owl'] },
    contents: (storage) => storage.userBadges.heldBy('30'),
    alter({ known, held }) {
      const given = held.length > 0 ? [] : known.map((badge) => ({ badge, grantedAt: NOON, grantedBy: null }))
      const type = held.length > 0 ? 'badge.revoked' : 'badge.granted'
      return altered({ known, held: given }, { type, data: { slug: 'night-owl' } }, { userId: '30' })
    },
  }),
  badgeCatalogue: sampleOf<{ slug: string }, BadgeCatalogueState>({
    name: 'the badge catalogue',
    store: (storage) => storage.badgeCatalogue,
    key: { slug: 'early-bird' },
    contents: (storage) => storage.badgeCatalogue.page({ from: { page: 1 }, limit: 1000 }),
    alter(entry) {
      const type = entry.badge === undefined ? 'badge.defined' : 'badge.removed'
      const defined = { id: entry.nextId, slug: 'early-bird', description: 'Up first', imageUrl: '' }
      const badge = entry.badge === undefined ? defined : undefined
      return altered({ ...entry, badge }, { type, data: { slug: 'early-bird' } })
    },
  }),
  issueImports: sampleOf<{ repositoryId: string }, undefined>({
    name: 'an issue import',
    store: (storage) => storage.issueImports,
    key: REPOSITORY,
    contents: () => undefined,
    alter: (state) =>
      altered(state, { type: 'issues.imported', data: { created: 1, updated: 0, comments: 2 } }, REPOSITORY),
  }),
}

/** Every aggregate. */
export const AGGREGATES: readonly AggregateSample[] = Object.values(SAMPLES)

/** All data that the samples can change, for a comparison of before and after. */
export interface Everything {
  /** What each sample reads, in the order of the samples. */
  readonly contents: readonly unknown[]
  readonly events: readonly ForgeEvent[]
  /** The epoch of the organization of the sample of the blocks. */
  readonly epoch: number
}

/** Reads all data that the samples can change. */
export async function everything<Tx>(storage: ForgeStorage<Tx>): Promise<Everything> {
  return {
    contents: await Promise.all(AGGREGATES.map((one) => one.contents(storage))),
    events: await outbox(storage),
    epoch: await storage.blocks.epoch(BLOCK.organizationId),
  }
}

/** One subject of each kind, to retire. */
export const THINGS: readonly Retired[] = [
  { thing: 'user', userId: '30' },
  { thing: 'organization', organizationId: '20' },
  { thing: 'repository', repositoryId: '10' },
  { thing: 'issue', issueId: '2', ...BOARD },
]

/** Fills boards, blocks and badges, so that every subject has dependent data. */
export async function fill<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  for (const slug of ['a', 'b']) await define(storage, slug)
  for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
  for (const issueId of ['8', '9']) await pin(storage, { ...BOARD, kind: 'pullRequest' }, issueId)
  await pin(storage, { ...BOARD, repositoryId: '11' }, '2')
  for (const userId of ['31', '30', '32']) await block(storage, '20', userId, { note: 'why' })
  await block(storage, '21', '30')
  for (const userId of ['30', '31']) await grant(storage, userId, ['a', 'b'])
}

function sampleOf<Key, State>({ store, key, alter, ...facts }: Parts<Key, State>): AggregateSample {
  return {
    ...facts,
    prepare: (storage) => define(storage, 'night-owl'),
    alter: (storage, extras) => change(store(storage), key, alter, extras),
    time: (storage, extras) =>
      change(store(storage), key, (state, at) => ({ ...alter(state), result: new Date(at) }), extras),
    leave: (storage, extras) => change(store(storage), key, left, extras),
    refuse: (storage, error, extras) =>
      change(
        store(storage),
        key,
        () => {
          throw error
        },
        extras,
      ),
  }
}

function altered<State>(
  state: State,
  event: RuleEvent,
  subject: Partial<typeof NO_SUBJECT | Record<string, string>> = {},
): Decision<State, string, EventDraft> {
  return { state, events: [{ ...NO_SUBJECT, ...subject, ...event }], result: 'altered' }
}
