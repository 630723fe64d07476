import type { Forge, MaybePromise, Sync, TransactionServices } from '../../index.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { Statement } from '../../storage/sql/query.ts'
import type { RowsOfEach, Session, Statements } from '../../storage/sql/session.ts'
import type { ForgeStorage, SchemaStatus } from '../../storage/storage.ts'
import type { StandaloneUser } from './roles.ts'
import type { HostContext } from './tables.ts'

/** The services of the forge inside a transaction of the host. */
type LoadedForge = TransactionServices<StandaloneUser> | Sync<TransactionServices<StandaloneUser>>

/**
 * Writes to the tables of the host and of the forge in one transaction, and returns whether there was anything
 * to do.
 */
export type Loading = (session: Pick<Session, 'all' | 'batch'>, forge: LoadedForge) => SyncOrAsync<boolean>

/** The database of a standalone host: its own tables, and the storage of its forge. */
export interface HostDatabase<Tx> {
  readonly context: HostContext
  readonly storage: ForgeStorage<Tx>
  /**
   * Returns the rows of a statement.
   *
   * @param transaction - a transaction of the host that is open; its changes are seen
   */
  rows<Row>(statement: Statement<Row>, transaction?: Tx | undefined): MaybePromise<readonly Row[]>
  /**
   * Runs statements in order, in as few round trips as possible, and returns the rows of each.
   *
   * @param transaction - a transaction of the host or of the storage that is open; the statements are part of it
   */
  rowsOfEach<Rows extends readonly unknown[]>(
    statements: Statements<Rows>,
    transaction?: Tx | undefined,
  ): MaybePromise<RowsOfEach<Rows>>
  /**
   * Brings the tables of the host up to date, then those of the forge. Nothing is written if the database cannot be
   * used: see `HostSchema.refuseUnusable`.
   */
  migrate(): Promise<void>
  /**
   * Checks that the database answers, and that the tables of the host and of the forge can be used. Writes nothing.
   * @throws ForgeError `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`, `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
   */
  check(): Promise<void>
  /** Returns the state of the host's tables. Writes nothing. */
  state(): Promise<SchemaStatus['state']>
  /** Loads all or nothing. No other process loads meanwhile, so what is found is still so when it is written. */
  load(forge: Forge<StandaloneUser, Tx>, steps: Loading): Promise<boolean>
  /** Closes what the database has opened and the storage has not. Call it after the storage has been closed. */
  close(): void
}
