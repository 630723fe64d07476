import type { AccessRequest, PinKind } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import type { ForgeStorage } from '../storage/contract/storage.ts'
import type { BeforeCommit } from '../storage/contract/stores.ts'
import type { MaybeAsync, Sync } from './call.ts'
import type { IssueTracker } from './exchange/issue-tracker.ts'
import type { ObservedRequest, Observer } from './observer.ts'
import type { Actor, Caller, CallOptions, Logger, Membership, Policy, SigningKeySource } from './ports.ts'
import type { ChosenServices, ServiceName, Services, TransactionServices } from './services.ts'

/** What `withTransaction` and `withTransactionSync` return. */
export interface TransactionResult<T> {
  /** The return value of `work`. */
  readonly value: T
  /**
   * Notifies the listeners of the events that were written, in order. Call this after the host has committed, and only
   * then: it does not check. A second call does nothing. Without this call the listeners are not notified; the events
   * are in the outbox all the same.
   */
  afterCommit(): void
}

/**
 * The services without access checks, for the HTTP routes, which authorize each request once themselves.
 * A method returns a value when the ports and the storage do, and a promise otherwise.
 */
export interface UnguardedServices extends MaybeAsync<Omit<Services<Actor>, 'lifecycle' | 'events'>> {
  /** Like `forge.authorize`, but returns no promise unless the policy does. */
  authorize(actor: Caller<Actor>, request: AccessRequest, options?: CallOptions): MaybePromise<void>
}

/** A forge: its services, and the methods that run them inside the host's transaction. */
export type Forge<A extends Actor = Actor, Tx = unknown, S extends ServiceName = ServiceName> = ForgeMethods<A, Tx, S> &
  ChosenServices<A, S>

/** The methods of a forge besides its services. */
export interface ForgeMethods<A extends Actor, Tx, S extends ServiceName> {
  /** The names of the services that this forge has. */
  readonly services: readonly S[]
  /**
   * Runs services inside the host's open transaction (a `pg` client, a `mysql2` connection, a Kysely transaction). The
   * forge sends no BEGIN and no COMMIT and uses no second connection. Its changes are rolled back with the host's.
   * Operations run one after the other, each in a savepoint, so a refused operation leaves the transaction unchanged.
   * When the transaction is lost (by a deadlock, for example), that call, every later call and `withTransaction` itself
   * fail: roll back, and run the whole transaction again.
   *
   * @throws TypeError when the connection is not in a transaction, or when the storage has no asynchronous
   * transactions; ForgeError `STORAGE_BUSY` with `retry: 'host-transaction'` when the transaction is lost; any error
   * that `work` throws
   */
  withTransaction<T>(
    transaction: Tx,
    work: (forge: TransactionServices<A, S>) => Promise<T>,
  ): Promise<TransactionResult<T>>
  /**
   * Runs services inside the host's open transaction on a synchronous SQLite handle. The forge sends no BEGIN and no
   * COMMIT and uses no second connection. Its changes are rolled back with the host's. Open the transaction with the
   * write lock (`.immediate()`).
   *
   * @throws TypeError when the handle is not in a transaction, when a port or `work` returns a promise, or when
   * the storage has no synchronous transactions; ForgeError `STORAGE_BUSY` when another writer holds the lock
   */
  withTransactionSync<T>(
    transaction: Tx,
    work: (forge: Sync<TransactionServices<A, S>>) => T extends PromiseLike<unknown> ? never : T,
  ): TransactionResult<T>
  /**
   * Asks the policy and throws the error that a service would throw.
   * @throws ForgeError the `*_NOT_FOUND` of the object if the policy conceals it; `UNAUTHENTICATED` for 'anonymous';
   * otherwise `FORBIDDEN`
   */
  authorize(actor: Caller<A>, request: AccessRequest, options?: CallOptions): Promise<void>
  /**
   * Stops the consumers of this forge, then closes the storage, which closes only what it opened itself.
   * Waits up to five seconds for running event handlers. If a handler takes longer, or awaits `close()` itself, the
   * next consumer gets the same events again. The promises of `events.consume` resolve. Later calls fail with
   * `STORAGE_UNAVAILABLE`. It is safe to call `close` twice, also concurrently.
   */
  close(): Promise<void>
}

/** What a forge provides to the HTTP routes of this package. It is not part of the type `Forge`. */
export interface ForgeInternals {
  readonly operations: UnguardedServices
  /** The services that an API mounts unless it chooses some of them. */
  readonly services: readonly ServiceName[]
  /** Whether the host has issues to exchange. */
  readonly hasIssues: boolean
  /** Never throws. */
  readonly logger: Logger
  /** The `request` of the host's observer. Never throws. */
  readonly observe: ((request: ObservedRequest) => void) | undefined
  newId(): string
}

/** Limits of a forge. Those of HTTP are options of `createApi`. */
export interface ForgeLimits {
  /** The maximum number of pins on a board, for each kind: 0 to 1,000. 0 disables pinning. Default 3 each. */
  readonly maxPins?: { readonly [K in PinKind]?: number | undefined } | undefined
  /** The maximum length of a block's note, in characters: 0 to 255. Default 255. */
  readonly maxNoteLength?: number | undefined
}

/** Options of `createForge`: a storage, the host's ports, and settings. `S` are the services of the forge. */
export type ForgeOptions<A extends Actor, Tx, S extends ServiceName = ServiceName> = ForgeSettings<A, Tx, S> &
  ('blocks' extends S ? { readonly membership: Membership<NoInfer<A>, NoInfer<Tx>> } : unknown)

/** A storage that reads the members in a table of the host: `tables.members`. */
export interface KnowsMembers {
  readonly host: {
    /** Reads whether a user is a member of an organization. */
    readonly isMember: (...given: never) => unknown
  }
}

/** Options of `createForge` that every set of services has. */
export interface ForgeSettings<A extends Actor, Tx, S extends ServiceName> {
  /**
   * The services of the forge. The others are not part of it, and the ports that only they call are not needed.
   * `lifecycle` and `events` are always there. Default: all.
   */
  readonly services?: readonly S[] | undefined
  /** Keeps the state of the forge: one of `forgelet/storage/…`. */
  readonly storage: ForgeStorage<Tx>
  /** Decides who may do what: a `rolePolicy`, or one of your own. */
  readonly policy: Policy<A, NoInfer<Tx>>
  /** Called before a user is blocked. The service `blocks` needs it, unless the storage has `tables.members`. */
  readonly membership?: Membership<NoInfer<A>, NoInfer<Tx>> | undefined
  /** The instance's signing key. Default: the instance has no signing key. */
  readonly signingKey?: SigningKeySource | undefined
  /** The host's issues, for the service `exchange`. Default: every call of that service is a TypeError. */
  readonly issues?: IssueTracker<NoInfer<A>, NoInfer<Tx>> | undefined
  /** The limits of pins and notes. */
  readonly limits?: ForgeLimits | undefined
  /**
   * Runs after the forge has written a change and before the commit, in the same transaction, also inside
   * `withTransaction`. Use it for the host's own consequences of a change, such as removing a blocked user's watches.
   * In memory, on synchronous SQLite and in a Durable Object, returning a promise is a TypeError and rolls this change
   * back. On other storages it may be asynchronous; other calls on the same transaction then wait for it, for five
   * seconds at most.
   */
  readonly beforeCommit?: BeforeCommit<NoInfer<Tx>> | undefined
  /**
   * Creates a text that was never created before: the `requestId` of a failed request, and what distinguishes an event
   * consumer from others of the same name. Default: a random UUID.
   */
  readonly newId?: (() => string) | undefined
  /** The source of the current time. Default: the system clock. */
  readonly clock?:
    | {
        /** Returns the current time. */
        now(): Date
      }
    | undefined
  /**
   * Receives warnings and unexpected failures, also those of the requests that an API of this forge answers. Default:
   * `console.error`. `false`: no logging.
   * Source: docs/observability.md
   */
  readonly logger?: Logger | false | undefined
  /**
   * Receives each operation of the storage, and each request that an API of this forge answers. Default: nothing is
   * observed, and nothing is timed. Source: docs/observability.md
   */
  readonly observer?: Observer | undefined
}
