import type { MaybePromise } from '../../index.ts'
import type { ForgeStorage } from '../../storage/storage.ts'

/** A transaction that the host itself began, as one of its own would be. Its connection stays open when it has ended, until `release`. */
export interface HostTransaction<Tx> {
  /** What the storage's calls take to write in it. */
  readonly transaction: Tx
  /** Ends it for good: everything in it is written. */
  commit(): MaybePromise<void>
  /** Ends it for good: nothing in it is written. */
  rollback(): MaybePromise<void>
  /** Gives its connection back: called once, when it has ended and the case is over. */
  release?(): MaybePromise<void>
}

/**
 * What the cases about more than one fresh storage need. Each part may be left out: then the cases that need it are not in
 * the list. A storage that `open` gave is passed in, to find its database by (a WeakMap from storage to database will do).
 */
export interface ContractHost<Tx> {
  /** Opens another storage over the same data, as another process would: nothing in memory is shared with the first. */
  readonly again?: ((storage: ForgeStorage<Tx>) => Promise<ForgeStorage<Tx>>) | undefined
  /** Opens a migrated and empty storage in the same database that keeps to names of its own, by another prefix say. */
  readonly beside?: ((storage: ForgeStorage<Tx>) => Promise<ForgeStorage<Tx>>) | undefined
  /** Begins a transaction of the host's own on the storage's database, at the isolation a host would have. */
  readonly begin?: ((storage: ForgeStorage<Tx>) => MaybePromise<HostTransaction<Tx>>) | undefined
  /** As `begin`, in a transaction that goes on reading what was committed when it first read (REPEATABLE READ, say). */
  readonly beginSnapshot?: ((storage: ForgeStorage<Tx>) => MaybePromise<HostTransaction<Tx>>) | undefined
  /** As `begin`, in a transaction in which each statement reads what is committed when it begins (READ COMMITTED, say). */
  readonly beginReadCommitted?: ((storage: ForgeStorage<Tx>) => MaybePromise<HostTransaction<Tx>>) | undefined
  /** As `open`, with ids of every kind that may be any text of 1 to 64 characters. */
  readonly textIds?: (() => Promise<ForgeStorage<Tx>>) | undefined
}
