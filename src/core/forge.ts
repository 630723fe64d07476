import type { AccessRequest } from '../schema/access.ts'
import type { PinKind } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import type { ForgeStorage } from '../storage/contract/storage.ts'
import type { BeforeCommit } from '../storage/contract/stores.ts'
import type { ObservedOperation } from './instrument-storage.ts'
import type { Actor, Caller, CallOptions, Logger, Membership, Policy, SigningKeySource } from './ports.ts'
import type { MaybeAsync, Services, Sync, TransactionServices } from './services.ts'

/** What a join gives back. */
export interface TransactionResult<T> {
  /** What the work returned. */
  readonly value: T
  /** Call it once the host has committed: tells the listeners of the events found committed. What is not announced is still in the outbox. */
  afterCommit(): void
}

/**
 * The operations behind the services: the policy is not asked, answers come at once where ports and storage do.
 * For the HTTP routes, which authorise a request themselves, once.
 */
export interface UnguardedServices<A extends Actor> extends MaybeAsync<Omit<Services<A>, 'lifecycle' | 'events'>> {
  /** As `forge.authorize`, answering at once where the policy does. */
  authorize(actor: Caller<A>, request: AccessRequest, options?: CallOptions): MaybePromise<void>
}

/** A forge: the services, and the ways into a host's transaction. */
export interface Forge<A extends Actor = Actor, Tx = unknown> extends Services<A> {
  /**
   * Runs services inside the host's open transaction (a `pg` client, a `mysql2` connection, a Kysely transaction): no
   * BEGIN, no COMMIT, no second connection, rolled back with the host. Operations run one after the other, each in a
   * savepoint: one that is refused leaves the transaction as it was. When the database has lost the transaction (a
   * deadlock, say) that call and every later one fails, and so does the join: roll back, and run it all again.
   *
   * @throws TypeError when the connection is not in a transaction, or the storage has none to join; ForgeError
   * `STORAGE_BUSY` with `retry: 'host-transaction'` when the transaction is lost; what the work throws
   */
  withTransaction<T>(
    transaction: Tx,
    work: (forge: TransactionServices<A>) => Promise<T>,
  ): Promise<TransactionResult<T>>
  /**
   * Runs services inside the host's open transaction on a synchronous SQLite handle: no BEGIN, no COMMIT, no second
   * connection, rolled back with the host. Open the transaction with the write lock (`.immediate()`).
   *
   * @throws TypeError when the handle is not in a transaction, when a port or the work answers with a promise, or when
   * the storage has no synchronous transactions; ForgeError `STORAGE_BUSY` when another writer holds the lock
   */
  withTransactionSync<T>(
    transaction: Tx,
    work: (forge: Sync<TransactionServices<A>>) => T extends PromiseLike<unknown> ? never : T,
  ): TransactionResult<T>
  /**
   * Asks the policy; throws what a service would.
   * @throws ForgeError concealed: the thing's `*_NOT_FOUND`; 'anonymous': `UNAUTHENTICATED`; else `FORBIDDEN`
   */
  authorize(actor: Caller<A>, request: AccessRequest, options?: CallOptions): Promise<void>
  /**
   * Ends the consumers of this forge, then closes the storage, which ends what it opened itself. Waits up to five seconds for
   * handlers of events; one that takes longer, or awaits `close()` itself, gets its events again from the next consumer. The
   * promises of `events.consume` resolve, and later calls are `STORAGE_UNAVAILABLE`. Safe to call twice, also at once.
   */
  close(): Promise<void>
}

/** What a forge holds for the HTTP routes of this package, outside of its type. */
export interface ForgeInternals<A extends Actor> {
  readonly operations: UnguardedServices<A>
  /** Throws nothing. */
  readonly logger: Logger
}

/** Bounds of a forge. */
export interface ForgeLimits {
  /** Pins on one board, per kind: 0 (none) to 1,000. Default 3 each. */
  readonly maxPins?: { readonly [K in PinKind]?: number | undefined } | undefined
  /** Characters of a block's note, 0 to 255. Default 255. */
  readonly maxNoteLength?: number | undefined
}

/** What a forge is made of: a storage, and the host's ports. */
export interface ForgeOptions<A extends Actor, Tx> {
  readonly storage: ForgeStorage<Tx>
  readonly policy: Policy<A, NoInfer<Tx>>
  readonly membership: Membership<NoInfer<A>, NoInfer<Tx>>
  /** Default: the instance has no signing key. */
  readonly signingKey?: SigningKeySource | undefined
  readonly limits?: ForgeLimits | undefined
  /**
   * Runs after our write and before the commit, on the same transaction, in joins too: the place for the host's own
   * consequences (drop a blocked user's watches). On synchronous SQLite a promise is a TypeError and rolls this change back.
   * Elsewhere it may wait, and other calls on the same transaction wait for it, for five seconds at most.
   */
  readonly beforeCommit?: BeforeCommit<NoInfer<Tx>> | undefined
  /** Makes the text by which a consumer of events is told from its competitors. Default: random. */
  readonly newId?: (() => string) | undefined
  /** Default: the system's clock. */
  readonly clock?:
    | {
        /** The time. */
        now(): Date
      }
    | undefined
  /** Takes warnings and unexpected failures, of `createApi` too. Default: `console.error`. False: nowhere. Source: docs/observability.md */
  readonly logger?: Logger | false | undefined
  /**
   * Is called once for each operation of the storage, when it has ended; what it throws changes nothing, and is warned of
   * the first time. Default: no clock is read. Source: docs/observability.md
   */
  readonly observe?: ((operation: ObservedOperation) => void) | undefined
}
