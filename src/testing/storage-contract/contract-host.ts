import type { HostThing, Id, MaybePromise } from '../../index.ts'
import type { BlockKey, ForgeStorage } from '../../storage/storage.ts'

/**
 * A transaction that the host began with its own driver. Its connection stays open after the transaction has ended,
 * until `release` is called.
 */
export interface BegunTransaction<Tx> {
  /** The value to pass to the calls of the storage, so that they write in this transaction. */
  readonly transaction: Tx
  /** Commits the transaction. It cannot be used afterwards. */
  commit(): MaybePromise<void>
  /** Rolls the transaction back. It cannot be used afterwards. */
  rollback(): MaybePromise<void>
  /** Releases the connection. Called once, after the transaction has ended and the case is over. */
  release?(): MaybePromise<void>
}

/**
 * A host whose tables a storage knows: those of users, organizations, members, repositories, and issues with pull requests.
 * Each function receives a storage that `open` or `textIds` returned, and runs in the transaction of the host that it
 * receives. Without one it waits for others, and repeats what the database has ended in favour of others.
 */
export interface ContractTables<Tx> {
  /**
   * Opens a new storage, migrated and empty, that knows the tables of the host. They are empty too. A case may replace its
   * `retire`, to delete the row of what is reported.
   */
  open(): Promise<ForgeStorage<Tx>>
  /** Like `open`, for a storage in which ids of every kind may be any text of 1 to 64 characters. */
  readonly textIds?: (() => Promise<ForgeStorage<Tx>>) | undefined
  /** Adds rows with these ids. */
  create(storage: ForgeStorage<Tx>, thing: HostThing, ids: readonly Id[]): MaybePromise<unknown>
  /** Deletes a row, and nothing else of the host's. */
  remove(storage: ForgeStorage<Tx>, thing: HostThing, id: Id, transaction?: Tx): MaybePromise<unknown>
  /** Hides a row from the forge, or shows it again. Omitted: cases about hidden rows are left out. */
  readonly hide?:
    | ((
        storage: ForgeStorage<Tx>,
        thing: 'user' | 'issue',
        row: { readonly id: Id; readonly isHidden: boolean },
        transaction?: Tx,
      ) => MaybePromise<unknown>)
    | undefined
  /** Adds a member. @throws the error of the database if the organization blocks the user */
  addMember(storage: ForgeStorage<Tx>, member: BlockKey, transaction?: Tx): MaybePromise<unknown>
}

/**
 * What the cases with more than one storage need. Each part is optional. If a part is missing, the cases that need it
 * are left out. Each function receives a storage that `open` returned, so that it can find the database of that
 * storage, for example in a WeakMap from storage to database.
 */
export interface ContractHost<Tx> {
  /**
   * Opens another storage over the same data, as another process would. It shares nothing in memory with the first
   * storage.
   */
  readonly again?: ((storage: ForgeStorage<Tx>) => Promise<ForgeStorage<Tx>>) | undefined
  /** Opens a migrated and empty storage in the same database under its own names, for example with another prefix. */
  readonly beside?: ((storage: ForgeStorage<Tx>) => Promise<ForgeStorage<Tx>>) | undefined
  /** Begins a transaction of the host on the database of the storage, at the isolation level that a host would use. */
  readonly begin?: ((storage: ForgeStorage<Tx>) => MaybePromise<BegunTransaction<Tx>>) | undefined
  /**
   * Like `begin`, at an isolation level at which all reads use the snapshot of the first read, for example REPEATABLE
   * READ.
   */
  readonly beginSnapshot?: ((storage: ForgeStorage<Tx>) => MaybePromise<BegunTransaction<Tx>>) | undefined
  /**
   * Like `begin`, at an isolation level at which each statement reads what is committed when the statement begins, for
   * example READ COMMITTED.
   */
  readonly beginReadCommitted?: ((storage: ForgeStorage<Tx>) => MaybePromise<BegunTransaction<Tx>>) | undefined
  /** Like `open`, for a storage in which ids of every kind may be any text of 1 to 64 characters. */
  readonly textIds?: (() => Promise<ForgeStorage<Tx>>) | undefined
  /**
   * A host whose tables the storage knows. With it, the cases run twice: also on such a storage, with the rows that they
   * need, and where they report a deletion the row is deleted.
   */
  readonly tables?: ContractTables<Tx> | undefined
  /**
   * The seeds of the cases that make the same drawn changes on a storage and on `memoryStorage`, to repeat one or to try
   * others. Default 1 to 4.
   */
  readonly seeds?: readonly number[] | undefined
}
