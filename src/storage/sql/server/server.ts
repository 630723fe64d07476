import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Queryable } from '../session.ts'
import type { Deadline } from './call-deadline.ts'

/**
 * A connection to a database server: statements wait for their answers, and run one after the other. What fails is thrown
 * as `server/failures.ts` has it: `STORAGE_BUSY` for a definite abort, which may be tried again; `STORAGE_UNAVAILABLE` when
 * the server is away; `BrokenReference` when a foreign key of ours refused the row. Anything else is a fault and stays as
 * the driver threw it.
 */
export interface ServerConnection<Tx> extends Queryable {
  /** The driver's own connection, as the host's `beforeCommit` gets it and as `join` takes it. */
  readonly transaction: Tx
}

/**
 * A database server, as a driver's room (`postgres/`, `mysql/`, `kysely/`) opens it. No connection is kept beyond the work.
 * Savepoints are not its business: the runtime runs `savepoint`, `release savepoint` and `rollback to savepoint` as plain
 * statements on the connection. Nor is trying again: the runtime does that, with `STORAGE_BUSY` alone.
 *
 * Each call has a deadline. A driver sends nothing but through `deadline.ask`, but for the COMMIT after
 * `deadline.startCommit`; tells the database how
 * long it may wait for a lock (`deadline.lockWait`), and destroys its connection when the call is interrupted.
 */
export interface Server<Tx extends object> {
  /**
   * Runs work on one connection of our own, each statement a transaction of its own. A migration runs here, by
   * `dialect.schemaChanges`: it holds a lock of its session meanwhile, and begins and ends transactions by statements.
   */
  plainly<T>(work: (connection: Queryable) => Promise<T>, deadline: Deadline): Promise<T>
  /** Runs reads on a connection of our own, all of which see the same. */
  inSnapshot<T>(work: (connection: Queryable) => Promise<T>, deadline: Deadline): Promise<T>
  /**
   * Runs work in a transaction of our own, and answers after its COMMIT: READ COMMITTED, its commit durable, and its locks
   * together not waited for longer than the deadline allows: then it is `STORAGE_BUSY`. Work that throws is rolled back, and its error thrown on; where that is the driver's own for a
   * definite abort, which a `beforeCommit` may throw, as `STORAGE_BUSY`. A connection that is lost while committing is
   * `STORAGE_UNAVAILABLE` with outcome `unknown`.
   */
  inTransaction<T>(work: (connection: ServerConnection<Tx>) => Promise<T>, deadline: Deadline): Promise<T>
  /** The host's transaction, as a connection; `STORAGE_BUSY` on it asks for the host's transaction to be run again. @throws TypeError when it cannot be one */
  joined(transaction: Tx, deadline: Deadline): ServerConnection<Tx>
  /**
   * The connection beneath a transaction, where several objects can stand for one: what is done on it takes turns. The
   * transaction itself where this is left out.
   */
  beneath?(transaction: Tx): MaybePromise<object>
  /**
   * Asked before every change in a host's transaction: that it is open, on our database, and sees our tables.
   * @throws TypeError when it is not, with the mend; ForgeError `STORAGE_BUSY` when it has failed and must be run again
   */
  refuseUnlessOpen(connection: ServerConnection<Tx>, deadline: Deadline): Promise<void>
  /** What about the server endangers what is committed, and we cannot set. */
  warnings(deadline: Deadline): Promise<readonly string[]>
  /** Calls a listener with each mistake of the host that fails no call, such as a transaction it left open. */
  onWarning(listener: (message: string) => void): void
  /** Ends what we opened; the host's pool stays open. Called once, when no work is left. Waits for no server that is silent. */
  close(): Promise<void>
}
