import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Retry } from '../server/failures.ts'
import type { Queryable } from '../session.ts'
import type { IsolationLevel } from './kysely-database.ts'

/** How to use one of our own connections. */
export interface ConnectionSettings {
  /** Ends the transactions that statements begin by themselves. Undefined if each statement is its own transaction. */
  readonly ending?: { readonly commit: Statement<unknown> } | undefined
  /** Whether the host had left a transaction open on it, which was rolled back. */
  readonly leftOpen?: boolean
}

/** A host's transaction, for the check before each change. */
export interface JoinedConnection {
  readonly transaction: object
  /** Runs statements in it. */
  readonly connection: Queryable
  /** Runs work on one of our own connections, outside the host's transaction. */
  beside<T>(work: (own: Queryable) => Promise<T>): Promise<T>
}

/** How one kind of database is used through a Kysely of the host. */
export interface KyselyBackend {
  /**
   * The isolation levels of transactions that change something, and of reads on one snapshot. Undefined if the database
   * has only one.
   */
  readonly levels: { readonly changes: IsolationLevel | undefined; readonly snapshot: IsolationLevel | undefined }
  /** Returns the error to throw for a failed statement, as `server/server.ts` defines it. */
  translate(error: unknown, retry: Retry): unknown
  /** Returns the error to throw for a failed connection. */
  translateConnect(error: unknown): unknown
  /** Returns the error to throw for a failed COMMIT. Only the answer of the database is decisive. */
  translateCommit(error: unknown): unknown
  /**
   * Returns the error to throw for an error of the work in one of our transactions. The host's own code may have thrown
   * it.
   */
  translateWork(error: unknown, rollBack: 'done' | 'failed'): unknown
  /**
   * Returns a function that prefixes each statement with its settings.
   * @param deadline - that of the call; undefined in a host's transaction, which has its own limits
   */
  prepares?(deadline: Deadline | undefined): (statement: Statement<unknown>) => string
  /**
   * Checks one of our own connections before each use, and rolls back a transaction that the host left open on it.
   * @param key - the connection, as its driver keeps it; undefined if it cannot be determined
   * @throws ForgeError `STORAGE_UNAVAILABLE` for a server that cannot be used; TypeError for a connection that cannot
   */
  look(connection: Queryable, key: object | undefined): Promise<ConnectionSettings>
  /** Prepares one of our own transactions for changes, and returns what runs its statements within the deadline. */
  begin(connection: Queryable, deadline: Deadline): Promise<Queryable>
  /**
   * Checks a host's transaction. @throws TypeError if it is not open, or not on the storage's database, with what to
   * do; ForgeError `STORAGE_BUSY` if it has failed, or if another writer holds its lock
   */
  refuseUnlessOpen(joined: JoinedConnection): Promise<void>
  /** Called with each error in a host's transaction, as the driver threw it. */
  failed?(transaction: object, error: unknown): void
  /** Returns warnings about settings of the database that endanger committed data. */
  warnings(connection: Queryable): Promise<readonly string[]>
}
