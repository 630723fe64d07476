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
 * Pins: an ordered board of issues and one of pull requests in each repository. Source: docs/behaviour.md, Pins.
 * Every method throws `REPOSITORY_NOT_FOUND` for a concealed or retired repository, `UNAUTHENTICATED` or `FORBIDDEN`
 * when the policy refuses, and `STORAGE_BUSY` or `STORAGE_UNAVAILABLE` when the storage cannot answer.
 */
export interface PinService<A extends Actor> {
  /**
   * Puts an issue at the end of its board; pinning what is pinned changes nothing and records nothing.
   * @throws ForgeError `PIN_LIMIT_REACHED`, `ISSUE_NOT_FOUND` when it was reported as deleted
   */
  pin(actor: Caller<A>, issue: IssueRef, options?: CallOptions): Promise<Pin>
  /** Takes an issue off its board and closes the gap; unpinning what is not pinned changes nothing. */
  unpin(actor: Caller<A>, issue: IssueRef, options?: CallOptions): Promise<void>
  /**
   * Moves a pinned issue to a 1-based position; beyond the end means last.
   * @throws ForgeError `ISSUE_NOT_PINNED`, `INVALID_INPUT` when the position is not an integer from 1 up
   */
  move(
    actor: Caller<A>,
    target: { readonly issue: IssueRef; readonly position: number },
    options?: CallOptions,
  ): Promise<Pin>
  /** A board in order of position. */
  list(
    actor: Caller<A>,
    board: { readonly repositoryId: IdInput; readonly kind: PinKind },
    options?: CallOptions,
  ): Promise<readonly Pin[]>
  /** Whether each board has room for one more. */
  allowed(actor: Caller<A>, repositoryId: IdInput, options?: CallOptions): Promise<{ readonly [K in PinKind]: boolean }>
  /** The pins and unpins of one issue, in the order they happened: the issue's, on whichever board, and kept when its repository is gone. */
  history(
    actor: Caller<A>,
    issue: IssueRef,
    options?: CallOptions,
  ): Promise<readonly ForgeEvent<'issue.pinned' | 'issue.unpinned'>[]>
}

/**
 * Blocks: an organization keeps users out. Source: docs/behaviour.md, Blocks.
 * Every guarded method throws `ORGANIZATION_NOT_FOUND` for a concealed organization and, but for `find`, a retired one, `UNAUTHENTICATED` or
 * `FORBIDDEN` when the policy refuses, and `STORAGE_BUSY` or `STORAGE_UNAVAILABLE` when the storage cannot answer.
 */
export interface BlockService<A extends Actor> {
  /**
   * Blocks an account. Refusals in this order: organization, self, member, already.
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
  /** The block of one user; undefined when there is none, also when the organization is retired. */
  find(
    actor: Caller<A>,
    target: { readonly organizationId: IdInput; readonly userId: IdInput },
    options?: CallOptions,
  ): Promise<Block | undefined>
  /** Oldest block first, stable under concurrent writes. @throws ForgeError `INVALID_INPUT` for a page request that is none */
  list(
    actor: Caller<A>,
    request: PageRequest & { readonly organizationId: IdInput },
    options?: CallOptions,
  ): Promise<Page<Block>>
  /** The one unguarded read: what a host asks before it lets someone act. Those of the users who are blocked. */
  filterBlocked(candidates: {
    readonly organizationId: IdInput
    readonly userIds: readonly IdInput[]
  }): Promise<ReadonlySet<Id>>
}

/** The badge catalogue: what can be granted. Every method throws `UNAUTHENTICATED` or `FORBIDDEN` when the policy refuses. */
export interface BadgeCatalogueService<A extends Actor> {
  /** @throws ForgeError `BADGE_EXISTS`, `INVALID_INPUT` for a slug that is empty or longer than 255 characters */
  define(
    actor: Caller<A>,
    badge: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Badge>
  /** Changes what is given and keeps the rest. @throws ForgeError `INVALID_INPUT` for a slug that no database can keep, `BADGE_NOT_FOUND` */
  update(
    actor: Caller<A>,
    change: {
      readonly slug: string
      readonly description?: string | undefined
      readonly imageUrl?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Badge>
  /** @throws ForgeError `BADGE_NOT_FOUND`, `BADGE_IN_USE` while someone holds it */
  remove(actor: Caller<A>, slug: string, options?: CallOptions): Promise<void>
  /** One definition by its slug, compared exactly; undefined when there is none. */
  find(actor: Caller<A>, slug: string, options?: CallOptions): Promise<Badge | undefined>
  /** Oldest definition first. @throws ForgeError `INVALID_INPUT` for a page request that is none */
  list(actor: Caller<A>, page?: PageRequest, options?: CallOptions): Promise<Page<Badge>>
}

/**
 * Badges: which user holds which. Source: docs/behaviour.md, Badges.
 * Every method throws `USER_NOT_FOUND` for a concealed or retired user and `UNAUTHENTICATED` or `FORBIDDEN` when the policy refuses.
 */
export interface BadgeService<A extends Actor> {
  /** Grants badges, all or none; one already held or repeated is passed over. @throws ForgeError `INVALID_INPUT` for a slug that no database can keep, `UNKNOWN_BADGE` naming every unknown slug */
  grant(
    actor: Caller<A>,
    grants: { readonly userId: IdInput; readonly slugs: readonly string[] },
    options?: CallOptions,
  ): Promise<void>
  /** Revokes badges, all or none; one not held is passed over. @throws ForgeError `INVALID_INPUT` for a slug that no database can keep, `UNKNOWN_BADGE` naming every unknown slug */
  revoke(
    actor: Caller<A>,
    grants: { readonly userId: IdInput; readonly slugs: readonly string[] },
    options?: CallOptions,
  ): Promise<void>
  /** What the user holds, oldest grant first. */
  heldBy(actor: Caller<A>, userId: IdInput, options?: CallOptions): Promise<readonly Grant[]>
  readonly catalogue: BadgeCatalogueService<A>
}

/** The instance's public signing key. Source: docs/behaviour.md, Signing keys. */
export interface SigningKeyService<A extends Actor> {
  /**
   * With a repository the policy is asked whether the actor may see it; the key is the instance's all the same.
   * @throws ForgeError `NO_SIGNING_KEY`, `SIGNING_KEY_FORMAT_MISMATCH` (the key is not touched then), `SIGNING_KEY_UNREADABLE`,
   * `REPOSITORY_NOT_FOUND`
   */
  publicKey(
    actor: Caller<A>,
    request: { readonly format: SigningKeyFormat; readonly repositoryId?: IdInput | undefined },
    options?: CallOptions,
  ): Promise<PublicKey>
}

/**
 * What the host tells us, inside its own transaction, so that nothing dangles and no decision is made on what is gone.
 * Telling the same twice changes nothing. Source: docs/storage.md, section 2.
 */
export interface LifecycleService {
  /** The user is gone: blocks of the user and grants to the user go too. */
  userDeleted(userId: IdInput): Promise<void>
  /** The organization is gone: its blocks go too. Its repositories are reported one by one. */
  organizationDeleted(organizationId: IdInput): Promise<void>
  /** The repository is gone: its pins go too. */
  repositoryDeleted(repositoryId: IdInput): Promise<void>
  /** The issue is gone: it leaves its board, the gap is closed, and it can never be pinned again. */
  issueDeleted(issue: IssueRef): Promise<void>
  /** @throws ForgeError `ALREADY_BLOCKED` when the user is blocked there: unblock first */
  memberAdded(member: { readonly organizationId: IdInput; readonly userId: IdInput }): Promise<void>
}

/** Which events the audit view shows; what is undefined does not narrow. */
export interface EventListFilter {
  readonly organizationId?: IdInput | undefined
  readonly repositoryId?: IdInput | undefined
  readonly userId?: IdInput | undefined
  readonly actorId?: IdInput | undefined
  readonly types?: readonly ForgeEventType[] | undefined
}

/**
 * Takes events that a consumer is handed, in order. Once it has ended well they are behind the consumer; when it throws or
 * rejects, or its process dies, they are handed over again.
 */
export type EventHandler = (
  events: readonly ForgeEvent[],
  /** Its signal aborts when the consumer is to stop, or has lost its lease. */
  context: { readonly signal: AbortSignal },
) => MaybePromise<void>

/** How a consumer goes about it. */
export interface ConsumeOptions {
  /** Ends the consuming; what is being handled then is ended first. */
  readonly signal: AbortSignal
  /** How long a process may be silent before another takes over. Renewed while the handler runs. Default 30,000. */
  readonly leaseMilliseconds?: number | undefined
  /** How often to look for events of other processes; those of this one are seen at once. Default 1,000. */
  readonly pollMilliseconds?: number | undefined
  /** How many events are handed over at once at most: 1 to 1,000, default 100. */
  readonly batch?: number | undefined
}

/** What happened: to be told at once, to be read in order, to be looked through. No policy is asked: this is for the host's own code. */
export interface EventService {
  /**
   * After commit, this process only, and in one order for all listeners, also where a listener makes a change. A listener
   * that throws or rejects is logged and stops no other. Returns a function that removes the listener.
   */
  on(listener: (event: ForgeEvent) => unknown): () => void
  /**
   * The outbox: every committed event, once numbered, in order, at least once, from all processes.
   * @param query - `after`: an opaque cursor of an earlier answer, by default the beginning of what is kept; `limit`: 1 to
   * 1,000, default 100
   * @throws ForgeError `INVALID_INPUT` for a cursor that is none; `EVENTS_PRUNED` for one that lies before what is kept
   */
  read(query?: {
    readonly after?: string | undefined
    readonly limit?: number | undefined
  }): Promise<{ readonly events: readonly ForgeEvent[]; readonly cursor: string }>
  /**
   * Consumes the outbox under a name whose cursor is stored: every event in order, at least once, by one process at a time,
   * however many ask. A storage that is busy or away is waited for. Ends when the signal aborts or the forge closes. Source:
   * docs/storage.md, section 5.
   *
   * @param name - 1 to 64 characters; a new name begins where the outbox does
   * @throws TypeError without a name, a handler or a signal; ForgeError what the storage refuses for good:
   * `STORAGE_UNAVAILABLE` when the forge is closed, or its storage was closed by other code
   */
  consume(name: string, handler: EventHandler, options: ConsumeOptions): Promise<void>
  /** Forgets a consumer's name and its cursor: an abandoned one holds back `prune` for ever. False when there was none. */
  forget(name: string): Promise<boolean>
  /** The audit view, newest first. @throws ForgeError `INVALID_INPUT` for a page request that is none */
  list(filter: EventListFilter, page?: PageRequest): Promise<Page<ForgeEvent>>
  /**
   * Removes old events that every consumer has behind it. Pins and unpins of issues that are not gone stay, for they are the
   * issue's history; the audit view loses the others.
   *
   * @param options - `before`: only what was made before this time
   * @returns how many were removed
   */
  prune(options: { readonly before: Date }): Promise<number>
}

/** Everything a forge can do. */
export interface Services<A extends Actor> {
  readonly pins: PinService<A>
  readonly blocks: BlockService<A>
  readonly badges: BadgeService<A>
  readonly signingKeys: SigningKeyService<A>
  readonly lifecycle: LifecycleService
  readonly events: EventService
}

/** Inside a host's transaction: everything but events, which shows what is committed, and commits. */
export type TransactionServices<A extends Actor> = Omit<Services<A>, 'events'>

/**
 * The same services without promises, for synchronous SQLite drivers: ports that answer with a promise there are a
 * TypeError before any write.
 */
export type Sync<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer P) => infer R ? (...args: P) => Awaited<R> : Sync<T[K]>
}

/** The same services, answering at once where ports and storage do. */
export type MaybeAsync<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer P) => Promise<infer R>
    ? (...args: P) => MaybePromise<R>
    : MaybeAsync<T[K]>
}
