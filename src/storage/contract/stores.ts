import type { Decision } from '../../schema/decision.ts'
import type { EventDraft, ForgeEvent } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { Badge, Block, Grant, PinKind } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'

/** Who and when, for the envelope of the events a change makes; `at` is read once for every attempt. */
export interface Authorship {
  readonly actorId: Id | null
  /** The time of the change; asked again for every attempt. */
  readonly at: () => Date
}

/** Runs after a change is written and before it is committed, on the same transaction. */
export type BeforeCommit<Tx> = (events: readonly ForgeEvent[], transaction: Tx) => MaybePromise<void>

/** What every write carries besides its decision. */
export interface WriteContext<Tx> {
  readonly by: Authorship
  readonly beforeCommit?: BeforeCommit<Tx> | undefined
  /** The host's open transaction to write in; undefined = the storage's own. */
  readonly transaction?: Tx | undefined
}

/** One change of one aggregate. */
export interface Change<State, Result, Tx> extends WriteContext<Tx> {
  /** The aggregate's epoch as read before the ports were asked; undefined = nothing was asked. */
  readonly expectedEpoch: number | undefined
  /**
   * Pure and synchronous; may run again on a newer state, at a later time. Gives back the very state it got when nothing
   * changes: then nothing is written, but that the head may be made. What it throws ends the change with nothing written.
   *
   * @param at - when: the time of the attempt, which its events bear too
   */
  readonly decide: (state: State, at: Date) => Decision<State, Result, EventDraft>
  /** A lifecycle call: the epoch goes up even when nothing else changes, so that whoever asked before asks again. */
  readonly raisesEpoch?: true | undefined
  /**
   * How long the storage has already taken for the same call, in milliseconds: a storage that limits the time of a call
   * subtracts it. Default: 0.
   */
  readonly spentMilliseconds?: number | undefined
  /** Asked at the start of every attempt: when it has aborted, the change ends with its reason and nothing is written. */
  readonly signal?: AbortSignal | undefined
}

/** How a change ended. */
export type Outcome<Result> =
  /** A lifecycle call came between: nothing was written; ask the ports again. */
  { readonly stale: true } | { readonly stale: false; readonly result: Result; readonly events: readonly ForgeEvent[] }

/** One aggregate: load under its lock, decide (pure, synchronous), write all or nothing with the events. */
export interface AggregateStore<Key, State, Tx> {
  /** How many lifecycle calls the aggregate has seen; 0 when it does not exist yet. */
  epoch(key: Key, transaction?: Tx): MaybePromise<number>
  /** @throws ForgeError `*_NOT_FOUND` when the key, or what the decision adds, is retired; `STORAGE_BUSY`, `STORAGE_UNAVAILABLE` */
  update<Result>(key: Key, change: Change<State, Result, Tx>): MaybePromise<Outcome<Result>>
}

/** A page request with its defaults filled in: safe integers from 1 up. */
export interface PageQuery {
  readonly from: { readonly page: number } | { readonly after: string }
  readonly limit: number
}

/** Names one pin board: a repository and a kind. */
export interface PinBoardKey {
  readonly repositoryId: Id
  readonly kind: PinKind
}

/** One pin as it is stored; its place in the list is its position. */
export interface PinRow {
  readonly issueId: Id
  readonly pinnedAt: Date
  readonly pinnedBy: Id | null
}

/**
 * The pin boards: ordered lists. An `update` whose decision adds an issue that `retire` has remembered as gone
 * is refused with `ISSUE_NOT_FOUND`; on a retired repository every call but `epoch` is `REPOSITORY_NOT_FOUND`.
 */
export interface PinBoardStore<Tx> extends AggregateStore<PinBoardKey, readonly PinRow[], Tx> {
  /** The board in order; empty when nothing is pinned. */
  load(key: PinBoardKey, transaction?: Tx): MaybePromise<readonly PinRow[]>
}

/** Names one block: an organization and a user. */
export interface BlockKey {
  readonly organizationId: Id
  readonly userId: Id
}

/**
 * The blocks. `epoch` and the lock are the organization's. An `update` is refused with `ORGANIZATION_NOT_FOUND` on a
 * retired organization and with `USER_NOT_FOUND` on a retired user.
 */
export interface BlockStore<Tx> extends AggregateStore<BlockKey, Block | undefined, Tx> {
  /** One block, undefined when there is none. */
  find(key: BlockKey, transaction?: Tx): MaybePromise<Block | undefined>
  /** Those of the users whom the organization blocks. */
  among(organizationId: Id, userIds: readonly Id[], transaction?: Tx): MaybePromise<ReadonlySet<Id>>
  /**
   * In order of blocking, oldest first; page and total from one snapshot. First and last page cost the same.
   * @throws ForgeError `ORGANIZATION_NOT_FOUND` when it is retired; `INVALID_INPUT` for a cursor that is none
   */
  page(organizationId: Id, query: PageQuery, transaction?: Tx): MaybePromise<Page<Block>>
}

/** Names the part of one user's badge case that a change is about. */
export interface UserBadgesKey {
  readonly userId: Id
  /** Slugs, compared exactly. */
  readonly slugs: readonly string[]
}

/** What is known of the slugs asked for. */
export interface UserBadgesState {
  /** The definitions that exist, of the slugs asked for. */
  readonly known: readonly Badge[]
  /** The grants the user holds, of the slugs asked for. A change adds to these and takes from them. */
  readonly held: readonly Grant[]
}

/** The badge cases of users. On a retired user every call but `epoch` is `USER_NOT_FOUND`. */
export interface UserBadgesStore<Tx> extends AggregateStore<UserBadgesKey, UserBadgesState, Tx> {
  /** All grants of the user, oldest first. */
  heldBy(userId: Id, transaction?: Tx): MaybePromise<readonly Grant[]>
}

/** Names the entry of the catalogue that a change is about; compared exactly. */
export interface BadgeCatalogueKey {
  readonly slug: string
}

/** One entry of the catalogue, as a change sees it. */
export interface BadgeCatalogueState {
  /** The definition; undefined when there is none. A change sets, replaces or removes it. */
  readonly badge: Badge | undefined
  /** How many users hold it. */
  readonly holders: number
  /** The id of the next definition: a decimal integer, never given out twice. */
  readonly nextId: Id
}

/** The badge catalogue: one aggregate, one lock, its `epoch` never moves. */
export interface BadgeCatalogueStore<Tx> extends AggregateStore<BadgeCatalogueKey, BadgeCatalogueState, Tx> {
  /** One definition, undefined when there is none. */
  find(slug: string, transaction?: Tx): MaybePromise<Badge | undefined>
  /** Oldest definition first. @throws ForgeError `INVALID_INPUT` for a cursor that is none */
  page(query: PageQuery, transaction?: Tx): MaybePromise<Page<Badge>>
}
