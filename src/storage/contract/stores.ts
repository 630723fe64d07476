import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type {
  Badge,
  BadgeHolder,
  Decision,
  EventDraft,
  ForgeEvent,
  Grant,
  OrganizationBlock,
  PinKind,
  UserBlock,
} from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'

/**
 * Who made a change and when, for the envelope of the events that the change creates. `at` is read once for every
 * attempt.
 */
export interface Authorship {
  readonly actorId: Id | null
  /** Returns the time of the change. Called again for every attempt. */
  readonly at: () => Date
}

/**
 * Port: runs on the same transaction after a change is written and before it is committed. Called once for each change
 * that wrote events, with these events, and again when the change is retried: undo nothing outside of the transaction.
 */
export type BeforeCommit<Tx> = (events: readonly ForgeEvent[], transaction: Tx) => MaybePromise<void>

/** What every write carries besides its decision. */
export interface WriteContext<Tx> {
  readonly by: Authorship
  readonly beforeCommit?: BeforeCommit<Tx> | undefined
  /** The host's open transaction to write in. If undefined, the storage uses its own. */
  readonly transaction?: Tx | undefined
}

/**
 * Decides one change. Pure and synchronous. It may run again on a newer state, at a later time. It returns the same state
 * object if nothing changes: then nothing is written, except that the head may be created. An exception ends the change
 * with nothing written.
 *
 * @param at - the time of the attempt, which its events carry too
 */
export type ChangeDecision<State, Result> = (state: State, at: Date) => Decision<State, Result, EventDraft>

/**
 * Looks up data of the host which nothing may change until the commit, and returns the decision that follows. It runs on
 * the open transaction of the change, after the aggregate was locked and loaded, and again with every attempt. It may read
 * through the storage there, but change nothing through it. An exception ends the change with nothing written. Like
 * `beforeCommit`, it may return a promise only where the storage is asynchronous.
 */
export type Prepare<State, Result, Tx> = (state: State, transaction: Tx) => MaybePromise<ChangeDecision<State, Result>>

/** What a change carries besides its decision. */
export interface ChangeCircumstances<Tx> extends WriteContext<Tx> {
  /**
   * Checked at the start of every attempt. If it has aborted, the change ends with its reason and nothing is written.
   */
  readonly signal?: AbortSignal | undefined
}

/** One change of one aggregate: its decision, or what returns the decision. */
export type Change<State, Result, Tx> = ChangeCircumstances<Tx> &
  (
    | { readonly decide: ChangeDecision<State, Result>; readonly prepare?: undefined }
    | { readonly prepare: Prepare<State, Result, Tx>; readonly decide?: undefined }
  )

/** How a change ended. */
export interface Outcome<Result> {
  readonly result: Result
  /** The events that it wrote. */
  readonly events: readonly ForgeEvent[]
}

/**
 * One aggregate. A change locks it, loads it, decides (pure, synchronous), and writes all or nothing with the events.
 */
export interface AggregateStore<Key, State, Tx> {
  /**
   * Applies one change. @throws ForgeError `*_NOT_FOUND` if the key, or what the decision adds, is retired;
   * `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
   */
  update<Result>(key: Key, change: Change<State, Result, Tx>): MaybePromise<Outcome<Result>>
}

/** A page request with its defaults filled in. Its numbers are safe integers from 1 up. */
export interface PageQuery {
  readonly from: { readonly page: number } | { readonly after: string }
  readonly limit: number
}

/** Identifies one pin board: a repository and a kind. */
export interface PinBoardKey {
  readonly repositoryId: Id
  readonly kind: PinKind
}

/** An issue of a repository, and the kind of board that it can be on. */
export interface BoardIssue extends PinBoardKey {
  readonly issueId: Id
}

/** One stored pin. Its index in the list is its position. */
export interface PinRow {
  readonly issueId: Id
  readonly pinnedAt: Date
  readonly pinnedBy: Id | null
}

/**
 * The pin boards: ordered lists. An `update` whose decision adds an issue that `retire` has recorded as retired is
 * refused with `ISSUE_NOT_FOUND`. On a retired repository every call is `REPOSITORY_NOT_FOUND`.
 */
export interface PinBoardStore<Tx> extends AggregateStore<PinBoardKey, readonly PinRow[], Tx> {
  /** Returns the board in order; empty if nothing is pinned. */
  load(key: PinBoardKey, transaction?: Tx): MaybePromise<readonly PinRow[]>
  /**
   * Returns the 1-based position of each issue on the board of its repository, in the order of the list. Undefined where
   * it is not pinned, and where the repository is retired: this call is refused for none of them. All are from one
   * snapshot.
   */
  positions(issues: readonly BoardIssue[], transaction?: Tx): MaybePromise<readonly (number | undefined)[]>
}

/** Identifies one block by an organization: the organization and the user. */
export interface BlockKey {
  readonly organizationId: Id
  readonly userId: Id
}

/** One block by an organization, as a change sees it. */
export interface BlockState {
  /** The block, or undefined if it does not exist. A change sets, replaces or removes it. */
  readonly block: OrganizationBlock | undefined
  /**
   * The epoch of the organization, for all its users. It rises when the host reports a new member: a change that has
   * looked up the membership before compares it. A change raises it by returning a state with the next number, which is
   * written even if nothing else changes.
   */
  readonly epoch: number
  /**
   * Whether the user is a member, read under the lock in the host's table. Undefined if the storage does not know that
   * table: then the membership is looked up before.
   */
  readonly isMember?: boolean | undefined
}

/**
 * The blocks by organizations. The epoch and the lock belong to the organization. An `update` is refused with `ORGANIZATION_NOT_FOUND` on
 * a retired organization and with `USER_NOT_FOUND` on a retired user.
 */
export interface BlockStore<Tx> extends AggregateStore<BlockKey, BlockState, Tx> {
  /** Returns the epoch of the organization; 0 if it was never raised. */
  epoch(organizationId: Id, transaction?: Tx): MaybePromise<number>
  /** Returns one block, or undefined if it does not exist. */
  find(key: BlockKey, transaction?: Tx): MaybePromise<OrganizationBlock | undefined>
  /** Returns those of the users whom the organization blocks. */
  among(organizationId: Id, userIds: readonly Id[], transaction?: Tx): MaybePromise<ReadonlySet<Id>>
  /**
   * Returns a page in order of blocking, oldest first; a block that is replaced keeps its position. Rows and total come from
   * one snapshot.
   * @throws ForgeError `ORGANIZATION_NOT_FOUND` if it is retired; `INVALID_INPUT` if the cursor is invalid
   */
  page(organizationId: Id, query: PageQuery, transaction?: Tx): MaybePromise<Page<OrganizationBlock>>
}

/** Identifies one block by a user. */
export interface UserBlockKey {
  /** The user who blocks. */
  readonly blockerId: Id
  /** The user who is blocked. */
  readonly userId: Id
}

/** Who may have blocked users: a user, and an organization if there is one. */
export interface Blockers {
  readonly blockerId: Id
  readonly organizationId?: Id | undefined
}

/** Users who are blocked, by who blocks them. */
export interface BlockedUsers {
  readonly byUser: ReadonlySet<Id>
  readonly byOrganization: ReadonlySet<Id>
}

/**
 * The blocks by users. A change sees the block, or undefined if it does not exist, and sets, replaces or removes it. The lock
 * belongs to the user who blocks. An `update` is refused with `USER_NOT_FOUND` if either of the two users is retired.
 */
export interface UserBlockStore<Tx> extends AggregateStore<UserBlockKey, UserBlock | undefined, Tx> {
  /** Returns one block, or undefined if it does not exist. */
  find(key: UserBlockKey, transaction?: Tx): MaybePromise<UserBlock | undefined>
  /** Returns those of the users whom the blockers block, from one snapshot: the blocks of the organization too. */
  among(blockers: Blockers, userIds: readonly Id[], transaction?: Tx): MaybePromise<BlockedUsers>
  /**
   * Returns a page of the blocks by a user, as `page` of the blocks by organizations does.
   * @throws ForgeError `USER_NOT_FOUND` if the user is retired; `INVALID_INPUT` if the cursor is invalid
   */
  page(blockerId: Id, query: PageQuery, transaction?: Tx): MaybePromise<Page<UserBlock>>
}

/** Identifies the part of one user's badges that a change concerns. */
export interface UserBadgesKey {
  readonly userId: Id
  /** The slugs, compared exactly. */
  readonly slugs: readonly string[]
}

/** What is stored for the requested slugs. */
export interface UserBadgesState {
  /** The existing definitions among the requested slugs. */
  readonly known: readonly Badge[]
  /** The user's grants of the requested slugs. A change adds to these and removes from them. */
  readonly held: readonly Grant[]
}

/** The badges of users. On a retired user every call is `USER_NOT_FOUND`. */
export interface UserBadgesStore<Tx> extends AggregateStore<UserBadgesKey, UserBadgesState, Tx> {
  /** Returns all grants of the user, oldest first. */
  heldBy(userId: Id, transaction?: Tx): MaybePromise<readonly Grant[]>
  /**
   * Returns what `heldBy` does for each of the users, in the order of the list, from one snapshot. A retired user holds
   * nothing: this call is refused for none of them.
   */
  heldByMany(userIds: readonly Id[], transaction?: Tx): MaybePromise<readonly (readonly Grant[])[]>
  /**
   * Returns a page of the users who hold a badge, oldest grant first; grants of the same time in an order that stays.
   * Rows and total come from one snapshot. Undefined if the badge is not defined.
   * @throws ForgeError `INVALID_INPUT` if the cursor is invalid
   */
  holders(slug: string, query: PageQuery, transaction?: Tx): MaybePromise<Page<BadgeHolder> | undefined>
}

/** Identifies the entry of the catalogue that a change concerns. The slug is compared exactly. */
export interface BadgeCatalogueKey {
  readonly slug: string
}

/** One entry of the catalogue, as a change sees it. */
export interface BadgeCatalogueState {
  /** The definition, or undefined if it does not exist. A change sets, replaces or removes it. */
  readonly badge: Badge | undefined
  /** How many users hold it. */
  readonly holders: number
  /** The id of the next definition: a decimal integer that is never assigned twice. */
  readonly nextId: Id
}

/** The badge catalogue: one aggregate with one lock. */
export interface BadgeCatalogueStore<Tx> extends AggregateStore<BadgeCatalogueKey, BadgeCatalogueState, Tx> {
  /** Returns one definition, or undefined if it does not exist. */
  find(slug: string, transaction?: Tx): MaybePromise<Badge | undefined>
  /** Returns a page, oldest definition first. @throws ForgeError `INVALID_INPUT` if the cursor is invalid */
  page(query: PageQuery, transaction?: Tx): MaybePromise<Page<Badge>>
}

/** Identifies the imports into one repository. */
export interface IssueImportKey {
  readonly repositoryId: Id
}

/**
 * The issue imports of repositories: heads without rows. An import locks its head, writes into the host's tables in
 * `prepare` or `beforeCommit`, and adds an event. An `update` on a retired repository is `REPOSITORY_NOT_FOUND`.
 */
export type IssueImportStore<Tx> = AggregateStore<IssueImportKey, undefined, Tx>

/** The stores of the aggregates, by name. Every storage has all of them. */
export interface AggregateStores<Tx> {
  readonly pinBoards: PinBoardStore<Tx>
  readonly blocks: BlockStore<Tx>
  readonly userBlocks: UserBlockStore<Tx>
  readonly userBadges: UserBadgesStore<Tx>
  readonly badgeCatalogue: BadgeCatalogueStore<Tx>
  readonly issueImports: IssueImportStore<Tx>
}
