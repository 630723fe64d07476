import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Queryable } from '../session.ts'
import type { Deadline } from './call-deadline.ts'

/**
 * A connection to a database server. Its statements are asynchronous and run one after the other. Failures are thrown
 * as the errors of `server/failures.ts`: `STORAGE_BUSY` for a definite abort, which may be retried;
 * `STORAGE_UNAVAILABLE` if the server is unreachable; `BrokenReference` if one of our foreign keys refused the row. Any
 * other error is a fault and is thrown unchanged.
 */
export interface ServerConnection<Tx> extends Queryable {
  /** The driver's own connection, as the host's `beforeCommit` receives it and as `withTransaction` accepts it. */
  readonly transaction: Tx
}

/**
 * A database server, as the module of a driver (`postgres/`, `mysql/`, `kysely/`) opens it. No connection is held after
 * the work. The server does not handle savepoints: the runtime runs `savepoint`, `release savepoint` and `rollback to
 * savepoint` as plain statements on the connection. Nor does it retry: the runtime does, on `STORAGE_BUSY` alone.
 *
 * Each call has a deadline. A driver sends every statement through `deadline.ask`, except the COMMIT after
 * `deadline.startCommit`. It sets how long the database may wait for a lock (`deadline.lockWait`), and destroys its
 * connection if the call is interrupted.
 */
export interface Server<Tx extends object> {
  /**
   * Runs work on one of our own connections. Each statement is its own transaction. A migration runs here, through
   * `dialect.schemaChanges`: it holds a session lock meanwhile, and begins and ends transactions by statements.
   */
  plainly<T>(work: (connection: Queryable) => Promise<T>, deadline: Deadline): Promise<T>
  /** Runs reads on one of our own connections. All of them see the same snapshot. */
  inSnapshot<T>(work: (connection: Queryable) => Promise<T>, deadline: Deadline): Promise<T>
  /**
   * Runs work in a transaction of our own, and returns after its COMMIT. The transaction is READ COMMITTED and its
   * commit is durable. If its locks together take longer than the deadline allows, it is `STORAGE_BUSY`. Work that
   * throws is rolled back, and its error is rethrown; if the error is the driver's own for a definite abort, which a
   * `beforeCommit` may throw, as `STORAGE_BUSY`. A connection that is lost while committing is `STORAGE_UNAVAILABLE`
   * with outcome `unknown`.
   */
  inTransaction<T>(work: (connection: ServerConnection<Tx>) => Promise<T>, deadline: Deadline): Promise<T>
  /**
   * Wraps the host's transaction as a connection. `STORAGE_BUSY` on it means that the host must run its transaction
   * again. @throws TypeError if it cannot be one
   */
  joined(transaction: Tx, deadline: Deadline): ServerConnection<Tx>
  /**
   * Returns the connection beneath a transaction. Needed if several objects can represent one connection, because work
   * on one connection takes turns. If omitted, the transaction itself.
   */
  beneath?(transaction: Tx): MaybePromise<object>
  /**
   * Called before every change in a host's transaction. Checks that it is open, on our database, and sees our tables.
   * @throws TypeError if it does not, with what to do; ForgeError `STORAGE_BUSY` if it has failed and must be run again
   */
  refuseUnlessOpen(connection: ServerConnection<Tx>, deadline: Deadline): Promise<void>
  /** Returns warnings about settings of the server that endanger committed data and that the library cannot change. */
  warnings(deadline: Deadline): Promise<readonly string[]>
  /** Registers a listener for mistakes of the host that fail no call, such as a transaction it left open. */
  onWarning(listener: (message: string) => void): void
  /**
   * Closes what the storage opened; the host's pool stays open. Called once, when no work is left. Does not wait for a
   * server that does not answer.
   */
  close(): Promise<void>
}
