import type { Id } from '../../schema/ids.ts'
import type { EventDraft, ForgeEvent, PinKind } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { EventStore } from './events.ts'
import type { HostPorts } from './host.ts'
import type { AggregateStores, WriteContext } from './stores.ts'

/** What was permanently removed. */
export type Retired =
  | { readonly thing: 'user'; readonly userId: Id }
  | { readonly thing: 'organization'; readonly organizationId: Id }
  | { readonly thing: 'repository'; readonly repositoryId: Id }
  | { readonly thing: 'issue'; readonly issueId: Id; readonly repositoryId: Id; readonly kind: PinKind }

/** How many rows were removed with it. */
export interface Removed {
  readonly pins: number
  readonly blocks: number
  readonly grants: number
}

/**
 * One retirement. It locks the heads concerned in the global order, marks them, and removes the rows that belong to
 * them.
 */
export interface Retirement<Tx> extends WriteContext<Tx> {
  readonly retired: Retired
  /**
   * Pure. Returns the event that records the retirement. Not called if the thing was already retired: then nothing
   * happens.
   */
  readonly record: (removed: Removed) => EventDraft
}

/**
 * The state of our tables: whether they can be used, and if not, why. `incomplete`: a copy into them has not ended. The warnings name settings that endanger the data
 * and that the library cannot change.
 */
export interface SchemaStatus {
  readonly state: 'current' | 'outdated' | 'too-new' | 'drifted' | 'empty' | 'incomplete'
  readonly warnings: readonly string[]
}

/** The storage behind a forge. `Tx` is the host's open transaction, in the driver's type. */
export interface ForgeStorage<Tx = unknown> extends AggregateStores<Tx> {
  readonly events: EventStore<Tx>
  /** What the tables of the host answer, as far as the storage knows them. Undefined: it knows none. */
  readonly host?: Partial<HostPorts<Tx>> | undefined
  /** Executes a lifecycle call of the host: one transaction, all or nothing. Returns the events it created. */
  retire(retirement: Retirement<Tx>): MaybePromise<readonly ForgeEvent[]>
  /**
   * Whether the storage accepts a host's transaction, and whether calls on it return synchronously
   * (`withTransactionSync`) or asynchronously (`withTransaction`).
   */
  readonly transactions: 'none' | 'synchronous' | 'asynchronous'
  /**
   * Checks that a host's transaction is open and usable. On a database with one write lock, it takes that lock.
   * @throws TypeError if it is not a transaction or is not open; ForgeError `STORAGE_BUSY` if another writer holds the
   * lock
   */
  checkTransaction(transaction: Tx): MaybePromise<void>
  /**
   * Migrates our tables to the version that this library needs. @throws ForgeError `SCHEMA_TOO_NEW`, `SCHEMA_CONFLICT` if
   * a name that the tables need is taken, `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
   */
  migrate(): Promise<void>
  /** Returns the state of our tables. Changes nothing. */
  schemaStatus(): Promise<SchemaStatus>
  /**
   * Closes what the storage itself opened. It is safe to call twice. Every later call is ForgeError
   * `STORAGE_UNAVAILABLE` with `closed: true`, so that callers do not wait for the storage to come back.
   */
  close(): Promise<void>
}

/** The names of the stores: the members of a storage that are neither methods nor texts. */
export type StoreName = {
  [K in keyof ForgeStorage]-?: NonNullable<ForgeStorage[K]> extends string | ((...given: never[]) => unknown)
    ? never
    : K
}[keyof ForgeStorage]
