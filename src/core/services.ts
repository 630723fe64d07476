import type { ForgeEvent, ForgeEventType } from '../schema/events.ts'
import type { Id, IdInput } from '../schema/ids.ts'
import type { Page, PageRequest } from '../schema/paging.ts'
import type {
  AccountRef,
  Badge,
  Block,
  Grant,
  IssueRef,
  Pin,
  PinKind,
  PublicKey,
  SigningKeyFormat,
} from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import type { Actor, Caller, CallOptions } from './ports.ts'

/**
 * Pins. Each repository has an ordered board of issues and an ordered board of pull requests.
 * Source: docs/behaviour.md, Pins.
 * Every method throws `REPOSITORY_NOT_FOUND` for a concealed or retired repository, `UNAUTHENTICATED` or `FORBIDDEN`
 * when the policy refuses, and `STORAGE_BUSY` or `STORAGE_UNAVAILABLE` when the storage cannot answer.
 */
export interface PinService<A extends Actor> {
  /**
   * Pins an issue at the end of its board. Pinning a pinned issue changes nothing and records no event.
   * @throws ForgeError `PIN_LIMIT_REACHED`, `ISSUE_NOT_FOUND` when the issue was reported as deleted
   */
  pin(actor: Caller<A>, issue: IssueRef, options?: CallOptions): Promise<Pin>
  /** Removes an issue from its board and closes the gap. Unpinning an issue that is not pinned changes nothing. */
  unpin(actor: Caller<A>, issue: IssueRef, options?: CallOptions): Promise<void>
  /**
   * Moves a pinned issue to a 1-based position. A position beyond the end moves it to the end.
   * @throws ForgeError `ISSUE_NOT_PINNED`, `INVALID_INPUT` when the position is not an integer from 1 up
   */
  move(
    actor: Caller<A>,
    target: { readonly issue: IssueRef; readonly position: number },
    options?: CallOptions,
  ): Promise<Pin>
  /** Returns the pins of a board in order of position. */
  list(
    actor: Caller<A>,
    board: { readonly repositoryId: IdInput; readonly kind: PinKind },
    options?: CallOptions,
  ): Promise<readonly Pin[]>
  /** Returns, for each board, whether one more issue can be pinned. */
  allowed(actor: Caller<A>, repositoryId: IdInput, options?: CallOptions): Promise<{ readonly [K in PinKind]: boolean }>
  /**
   * Returns the pin and unpin events of one issue, oldest first. They include the events of every board that the issue
   * was on, and they remain after its repository is deleted.
   */
  history(
    actor: Caller<A>,
    issue: IssueRef,
    options?: CallOptions,
  ): Promise<readonly ForgeEvent<'issue.pinned' | 'issue.unpinned'>[]>
}

/**
 * Blocks. An organization can block users. Source: docs/behaviour.md, Blocks.
 * Every method but `filterBlocked` asks the policy and throws `ORGANIZATION_NOT_FOUND` for a concealed organization
 * and, except for `find`, for a retired one, `UNAUTHENTICATED` or `FORBIDDEN` when the policy refuses, and
 * `STORAGE_BUSY` or `STORAGE_UNAVAILABLE` when the storage cannot answer.
 */
export interface BlockService<A extends Actor> {
  /**
   * Blocks an account. The checks run in this order: organization, self, member, already blocked.
   * @throws ForgeError `CANNOT_BLOCK_ORGANIZATION`, `CANNOT_BLOCK_SELF`, `CANNOT_BLOCK_MEMBER`, `ALREADY_BLOCKED`,
   * `USER_NOT_FOUND` for a retired user, `INVALID_INPUT` for a note longer than the limit (default 255 characters)
   */
  block(
    actor: Caller<A>,
    target: {
      readonly organizationId: IdInput
      readonly account: AccountRef
      readonly note?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Block>
  /** Lifts a block. @throws ForgeError `CANNOT_BLOCK_ORGANIZATION`, `NOT_BLOCKED` */
  unblock(
    actor: Caller<A>,
    target: { readonly organizationId: IdInput; readonly account: AccountRef },
    options?: CallOptions,
  ): Promise<void>
  /** Returns the block of one user. Returns undefined when the user is not blocked or the organization is retired. */
  find(
    actor: Caller<A>,
    target: { readonly organizationId: IdInput; readonly userId: IdInput },
    options?: CallOptions,
  ): Promise<Block | undefined>
  /**
   * Lists the blocks of an organization, oldest first. Pages are stable under concurrent writes.
   * @throws ForgeError `INVALID_INPUT` if the page request is invalid
   */
  list(
    actor: Caller<A>,
    request: PageRequest & { readonly organizationId: IdInput },
    options?: CallOptions,
  ): Promise<Page<Block>>
  /**
   * Returns those of the given users whom the organization blocks. The policy is not asked: this read is for the host,
   * which calls it before it lets a user act.
   */
  filterBlocked(candidates: {
    readonly organizationId: IdInput
    readonly userIds: readonly IdInput[]
  }): Promise<ReadonlySet<Id>>
}

/**
 * The badge catalogue: the badges that can be granted.
 * Every method throws `UNAUTHENTICATED` or `FORBIDDEN` when the policy refuses.
 */
export interface BadgeCatalogueService<A extends Actor> {
  /**
   * Adds a badge to the catalogue.
   * @throws ForgeError `BADGE_EXISTS`, `INVALID_INPUT` for a slug that is empty or longer than 255 characters
   */
  define(
    actor: Caller<A>,
    badge: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Badge>
  /**
   * Changes the given properties of a badge and keeps the others.
   * @throws ForgeError `INVALID_INPUT` for a slug that no database can store, `BADGE_NOT_FOUND`
   */
  update(
    actor: Caller<A>,
    change: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Badge>
  /** Removes a badge from the catalogue. @throws ForgeError `BADGE_NOT_FOUND`, `BADGE_IN_USE` while a user holds it */
  remove(actor: Caller<A>, slug: string, options?: CallOptions): Promise<void>
  /** Returns the badge with this slug, or undefined. Slugs are compared exactly. */
  find(actor: Caller<A>, slug: string, options?: CallOptions): Promise<Badge | undefined>
  /** Lists the badges, oldest definition first. @throws ForgeError `INVALID_INPUT` if the page request is invalid */
  list(actor: Caller<A>, page?: PageRequest, options?: CallOptions): Promise<Page<Badge>>
}

/**
 * Badges: grants them to users and revokes them. Source: docs/behaviour.md, Badges.
 * Every method throws `USER_NOT_FOUND` for a concealed or retired user and `UNAUTHENTICATED` or `FORBIDDEN` when the
 * policy refuses.
 */
export interface BadgeService<A extends Actor> {
  /**
   * Grants badges, all or none. Badges that the user already holds and repeated slugs are skipped.
   * @throws ForgeError `INVALID_INPUT` for a slug that no database can store, `UNKNOWN_BADGE` naming every unknown slug
   */
  grant(
    actor: Caller<A>,
    grants: { readonly userId: IdInput; readonly slugs: readonly string[] },
    options?: CallOptions,
  ): Promise<void>
  /**
   * Revokes badges, all or none. Badges that the user does not hold are skipped.
   * @throws ForgeError `INVALID_INPUT` for a slug that no database can store, `UNKNOWN_BADGE` naming every unknown slug
   */
  revoke(
    actor: Caller<A>,
    grants: { readonly userId: IdInput; readonly slugs: readonly string[] },
    options?: CallOptions,
  ): Promise<void>
  /** Returns the badges that the user holds, oldest grant first. */
  heldBy(actor: Caller<A>, userId: IdInput, options?: CallOptions): Promise<readonly Grant[]>
  readonly catalogue: BadgeCatalogueService<A>
}

/** The instance's public signing key. Source: docs/behaviour.md, Signing keys. */
export interface SigningKeyService<A extends Actor> {
  /**
   * Returns the instance's public key. If `repositoryId` is given, the policy is asked whether the actor may see the
   * repository; the key does not depend on the repository.
   * @throws ForgeError `NO_SIGNING_KEY`, `SIGNING_KEY_FORMAT_MISMATCH` (in which case the key is not read),
   * `SIGNING_KEY_UNREADABLE`, `REPOSITORY_NOT_FOUND`
   */
  publicKey(
    actor: Caller<A>,
    request: { readonly format: SigningKeyFormat; readonly repositoryId?: IdInput | undefined },
    options?: CallOptions,
  ): Promise<PublicKey>
}

/**
 * Lifecycle calls, by which the host reports its own deletions and new members. Make them inside the host's
 * transaction, so that no row refers to a deleted object and no decision is based on one. Reporting the same thing
 * twice changes nothing.
 * Source: docs/storage.md, section 2.
 */
export interface LifecycleService {
  /** Reports that a user was deleted. Removes the blocks of the user and the grants to the user. */
  userDeleted(userId: IdInput): Promise<void>
  /** Reports that an organization was deleted. Removes its blocks. Report its repositories one by one. */
  organizationDeleted(organizationId: IdInput): Promise<void>
  /** Reports that a repository was deleted. Removes its pins. */
  repositoryDeleted(repositoryId: IdInput): Promise<void>
  /** Reports that an issue was deleted. Removes it from its board and closes the gap. It can never be pinned again. */
  issueDeleted(issue: IssueRef): Promise<void>
  /**
   * Reports that a user becomes a member of an organization.
   * @throws ForgeError `ALREADY_BLOCKED` when the organization blocks the user: unblock the user first
   */
  memberAdded(member: { readonly organizationId: IdInput; readonly userId: IdInput }): Promise<void>
}

/** Which events the audit view shows. A property that is undefined does not filter. */
export interface EventListFilter {
  readonly organizationId?: IdInput | undefined
  readonly repositoryId?: IdInput | undefined
  readonly userId?: IdInput | undefined
  readonly actorId?: IdInput | undefined
  readonly types?: readonly ForgeEventType[] | undefined
}

/**
 * Handles a batch of events, in order. When the handler returns or resolves, the consumer's cursor moves past the
 * batch. When it throws or rejects, or its process dies, the same events are delivered again.
 */
export type EventHandler = (
  events: readonly ForgeEvent[],
  /** `signal` aborts when the consumer must stop or has lost its lease. */
  context: { readonly signal: AbortSignal },
) => MaybePromise<void>

/** Options of `events.consume`. */
export interface ConsumeOptions {
  /** Stops the consumer. A batch that is being handled is finished first. */
  readonly signal: AbortSignal
  /**
   * The duration of the lease, in milliseconds: another process takes over when the lease was not renewed for this
   * long. The lease is renewed while the handler runs. Default 30,000.
   */
  readonly leaseMilliseconds?: number | undefined
  /**
   * How often to poll for events of other processes, in milliseconds. Events of this process are noticed immediately.
   * Default 1,000.
   */
  readonly pollMilliseconds?: number | undefined
  /** The maximum number of events in a batch: 1 to 1,000. Default 100. */
  readonly batch?: number | undefined
}

/**
 * Events: listen to them, read or consume the outbox, and list the audit view. The policy is not asked: this service is
 * for the host's own code.
 */
export interface EventService {
  /**
   * Adds a listener for the events of this process. Listeners are called after the commit. All listeners get the events
   * in the same order, even when a listener makes a change. A listener that throws or rejects is logged, and the others
   * are still called.
   * @returns a function that removes the listener
   */
  on(listener: (event: ForgeEvent) => unknown): () => void
  /**
   * Reads the outbox: the committed events of all processes, in order and at least once. An event can be read once it
   * has a number.
   * @param query - `after`: the opaque cursor of an earlier result, default: the oldest event that is kept; `limit`: 1
   * to 1,000, default 100
   * @throws ForgeError `INVALID_INPUT` if the cursor is invalid; `EVENTS_PRUNED` if events after the cursor were pruned
   */
  read(query?: {
    readonly after?: string | undefined
    readonly limit?: number | undefined
  }): Promise<{ readonly events: readonly ForgeEvent[]; readonly cursor: string }>
  /**
   * Consumes the outbox as a named consumer, whose cursor is stored. The handler gets every event in order and at least
   * once. However many processes consume under the same name, only one gets events at a time. While the storage is busy
   * or unavailable, the consumer waits. The promise resolves when the signal aborts or the forge closes.
   * Source: docs/storage.md, section 5.
   *
   * @param name - 1 to 64 characters; a new consumer starts at the beginning of the outbox
   * @throws TypeError without a name, a handler or a signal; ForgeError for a permanent failure of the storage:
   * `STORAGE_UNAVAILABLE` when the forge is closed, or when other code closed its storage
   */
  consume(name: string, handler: EventHandler, options: ConsumeOptions): Promise<void>
  /**
   * Deletes a consumer and its cursor. Delete abandoned consumers, because `prune` keeps every event that a consumer
   * has not read.
   * @returns false when no consumer has this name
   */
  forget(name: string): Promise<boolean>
  /** Lists the audit view, newest event first. @throws ForgeError `INVALID_INPUT` if the page request is invalid */
  list(filter: EventListFilter, page?: PageRequest): Promise<Page<ForgeEvent>>
  /**
   * Removes old events that every consumer has already handled. Pin and unpin events of issues that were not deleted
   * are kept, because they are the history of the issue. Removed events disappear from the audit view.
   *
   * @param options - `before`: only events that were created before this time are removed
   * @returns the number of removed events
   */
  prune(options: { readonly before: Date }): Promise<number>
}

/** All services of a forge. */
export interface Services<A extends Actor> {
  readonly pins: PinService<A>
  readonly blocks: BlockService<A>
  readonly badges: BadgeService<A>
  readonly signingKeys: SigningKeyService<A>
  readonly lifecycle: LifecycleService
  readonly events: EventService
}

/**
 * The services inside the host's transaction: all but `events`, which reads committed data and commits its own changes.
 */
export type TransactionServices<A extends Actor> = Omit<Services<A>, 'events'>

/**
 * Services that return values instead of promises, for synchronous SQLite drivers. If a port returns a promise, the
 * call throws a TypeError before it writes anything.
 */
export type Sync<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer P) => infer R ? (...args: P) => Awaited<R> : Sync<T[K]>
}

/** Services that return a value when the ports and the storage do, and a promise otherwise. */
export type MaybeAsync<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer P) => Promise<infer R>
    ? (...args: P) => MaybePromise<R>
    : MaybeAsync<T[K]>
}
