import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Retry } from '../server/failures.ts'
import type { Queryable } from '../session.ts'
import type { IsolationLevel } from './kysely-database.ts'

/** What is to be heeded on one connection of our own. */
export interface ConnectionSettings {
  /** What ends the transactions that statements begin by themselves; undefined where each statement is one of its own. */
  readonly ending?: { readonly commit: Statement<unknown> } | undefined
  /** The host had left a transaction open on it, which was rolled back. */
  readonly leftOpen?: boolean
}

/** A host's transaction, for the look at it before each change. */
export interface JoinedConnection {
  readonly transaction: object
  /** Runs statements in it. */
  readonly connection: Queryable
  /** Runs work on a connection of our own, beside it. */
  beside<T>(work: (own: Queryable) => Promise<T>): Promise<T>
}

/** How one kind of database is used through a Kysely of the host's. */
export interface KyselyBackend {
  /** The levels of transactions that change something, and of reads that all see the same; undefined where there is but one. */
  readonly levels: { readonly changes: IsolationLevel | undefined; readonly snapshot: IsolationLevel | undefined }
  /** The error to throw for what a statement failed with, as `server/server.ts` has it. */
  translate(error: unknown, retry: Retry): unknown
  /** The error to throw for what kept a connection from being made. */
  translateConnect(error: unknown): unknown
  /** The error to throw for what a COMMIT failed with: only a database that says so has decided. */
  translateCommit(error: unknown): unknown
  /** The error to throw for what the work in a transaction of ours threw: the host's own code may have. */
  translateWork(error: unknown, rollBack: 'done' | 'failed'): unknown
  /**
   * What puts before each statement the settings for its time.
   * @param deadline - that of the call; undefined in a host's transaction, which has limits of its own
   */
  prepares?(deadline: Deadline | undefined): (statement: Statement<unknown>) => string
  /**
   * Checks a connection of our own before each use, and rolls back what the host left open on it.
   * @param key - the connection, as its driver keeps it; undefined where that cannot be told
   * @throws ForgeError `STORAGE_UNAVAILABLE` for a server that cannot be used; TypeError for a connection that cannot
   */
  look(connection: Queryable, key: object | undefined): Promise<ConnectionSettings>
  /** Makes ready a transaction of our own to change something, and returns what runs its statements within the deadline. */
  begin(connection: Queryable, deadline: Deadline): Promise<Queryable>
  /**
   * @throws TypeError for a host's transaction that is not open, or not where the storage is, with the mend; ForgeError
   * `STORAGE_BUSY` for one that has failed, or that another writer keeps from its lock
   */
  refuseUnlessOpen(joined: JoinedConnection): Promise<void>
  /** Hears of each error in a host's transaction, as the driver threw it. */
  failed?(transaction: object, error: unknown): void
  /** What about the database endangers what is committed. */
  warnings(connection: Queryable): Promise<readonly string[]>
}
