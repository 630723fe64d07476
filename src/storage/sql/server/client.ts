import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Statement } from '../query.ts'
import type { ServerConnection, StatementRunner } from './connection.ts'

/** The isolation levels that the storage uses. */
export type IsolationLevel = 'read committed' | 'repeatable read'

/** A connection of the pool, until it is released. */
interface PooledConnection extends StatementRunner {
  /** Whether a transaction is open, if the library knows it without a query. */
  readonly status: 'inside' | 'outside' | undefined
  /**
   * Returns the connection to its pool. A spoilt connection is closed instead, if the library can do that. A promise of a
   * library that needs time for this is awaited, so that the caller's next call does not need another connection.
   */
  release(state: 'sound' | 'spoilt'): MaybePromise<void>
  /** Runs the host's code, which gets the connection. */
  lend<T>(work: () => Promise<T>): Promise<T>
  /** Destroys the connection immediately: its server may be silent. It is still released afterwards. */
  destroy(): void
}

/** A connection of a library on which transactions are begun and ended by statements. */
export interface StatementConnection<Tx> extends PooledConnection {
  readonly transactions: 'by statements'
  /** The library's own connection, as the host's `beforeCommit` receives it. */
  readonly transaction: Tx
  /** Runs the statements that commit. Returns whether the database rolled back instead, if the library reports that. */
  commit(statements: readonly Statement<unknown>[]): Promise<'committed' | 'rolled back'>
}

/** A connection of a library that begins and ends transactions itself. */
export interface LibraryConnection<Tx> extends PooledConnection {
  readonly transactions: 'by the library'
  /** Begins a transaction. The level is undefined if the database has only one. */
  begin(level: IsolationLevel | undefined): Promise<LibraryTransaction<Tx>>
}

/** An open transaction of a library. */
export interface LibraryTransaction<Tx> extends StatementRunner {
  /** The transaction, as the host's `beforeCommit` receives it. */
  readonly transaction: Tx
  commit(): Promise<void>
  rollBack(): Promise<void>
}

export type ClientConnection<Tx> = StatementConnection<Tx> | LibraryConnection<Tx>

/**
 * A library that provides connections to a database: pg, mysql2 or Kysely. It knows how to get a connection out of a
 * pool, run statements on it, and destroy its socket. It does not translate errors of the database, retry, or limit the
 * time of anything. Names of prepared statements are the library's business: if the server refuses one, it throws
 * `STORAGE_BUSY`.
 */
export interface DatabaseClient<Tx extends object> {
  /** Whether the connections are the host's. The host may do anything on them between two uses. */
  readonly isHosts: boolean
  /** Whether the library reports a COMMIT that the database has answered with a rollback and without an error. */
  readonly reportsRollback: boolean
  /**
   * Takes a connection out of the pool.
   * @param queued - called before this returns if the pool may have none to give: all of its connections are taken
   */
  connect(queued: () => void): Promise<ClientConnection<Tx>>
  /**
   * Wraps the host's open transaction. Undefined parts of it are not checked.
   * @throws TypeError if it cannot be one of this library
   */
  hostRunner(transaction: Tx): StatementRunner & { readonly identity: object }
  /**
   * Returns the connection beneath a transaction: several objects can represent one connection, and the work on one
   * connection takes turns.
   */
  beneath(transaction: Tx): MaybePromise<object>
  /** Checks, once, that the library returns our columns as they are. @throws TypeError if it does not */
  refuseUnreadable(connection: ServerConnection): Promise<void>
  /** Returns the error to throw for an error of the library itself; undefined if it came from the database. */
  translate(error: unknown): unknown
  /**
   * Closes what the storage opened; the host's pool stays open. Called once, when no work is left. Does not wait for a
   * server that does not answer.
   */
  close(): Promise<void>
}
