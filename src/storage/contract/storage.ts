import type { EventDraft, ForgeEvent } from '../../schema/events.ts'
import type { Id } from '../../schema/ids.ts'
import type { PinKind } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { EventStore } from './events.ts'
import type { BadgeCatalogueStore, BlockStore, PinBoardStore, UserBadgesStore, WriteContext } from './stores.ts'

/** What is gone for good. */
export type Retired =
  | { readonly thing: 'user'; readonly userId: Id }
  | { readonly thing: 'organization'; readonly organizationId: Id }
  | { readonly thing: 'repository'; readonly repositoryId: Id }
  | { readonly thing: 'issue'; readonly issueId: Id; readonly repositoryId: Id; readonly kind: PinKind }

/** How many rows went with it. */
export interface Removed {
  readonly pins: number
  readonly blocks: number
  readonly grants: number
}

/** One retirement: the heads concerned are locked in the global order, marked, their epochs raised, and what hung on them removed. */
export interface Retirement<Tx> extends WriteContext<Tx> {
  readonly retired: Retired
  /** Pure: the event that tells of it. Not asked when the thing was retired before: then nothing happens. */
  readonly record: (removed: Removed) => EventDraft
}

/** How our tables are: fit to use, or why not; warnings name what endangers the data and cannot be set by us. */
export interface SchemaStatus {
  readonly state: 'current' | 'outdated' | 'too-new' | 'drifted' | 'empty'
  readonly warnings: readonly string[]
}

/** What a forge keeps its data in. `Tx` is the host's open transaction, as the driver has it. */
export interface ForgeStorage<Tx = unknown> {
  readonly pinBoards: PinBoardStore<Tx>
  readonly blocks: BlockStore<Tx>
  readonly userBadges: UserBadgesStore<Tx>
  readonly badgeCatalogue: BadgeCatalogueStore<Tx>
  readonly events: EventStore<Tx>
  /** For the host's lifecycle calls: one transaction, all or nothing. Gives back the events it made. */
  retire(retirement: Retirement<Tx>): MaybePromise<readonly ForgeEvent[]>
  /** Whether a host's transaction can be joined, and whether everything on it answers at once (`joinSync`) or later (`join`). */
  readonly transactions: 'none' | 'synchronous' | 'asynchronous'
  /**
   * Checks that a host's transaction is open and usable; on a database with one write lock it takes that.
   * @throws TypeError when it is none, or not open; ForgeError `STORAGE_BUSY` when another writer holds the lock
   */
  checkTransaction(transaction: Tx): MaybePromise<void>
  /** Brings our tables to the version this library needs. @throws ForgeError `SCHEMA_TOO_NEW`, `STORAGE_BUSY`, `STORAGE_UNAVAILABLE` */
  migrate(): Promise<void>
  /** How our tables are; changes nothing. */
  schemaStatus(): Promise<SchemaStatus>
  /**
   * Calls a listener with each mistake of the host that the storage repairs and no call reports, such as a transaction that
   * was left open on a pooled connection. The forge logs them. Left out by storages that have no such warnings.
   */
  onWarning?(listener: (message: string) => void): void
  /**
   * Ends what the storage itself opened; safe to call twice. Every later call is ForgeError `STORAGE_UNAVAILABLE` with
   * `closed: true`, so that callers do not wait for it to come back.
   */
  close(): Promise<void>
}
