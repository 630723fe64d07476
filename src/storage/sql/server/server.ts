import type { Session } from '../session.ts'

/**
 * A connection to a database server: statements wait for their answers, and run one after the other. `lend` goes through
 * the transaction's queue (transaction-queues.ts).
 */
export interface ServerConnection<Tx> extends Session {
  /** The driver's own connection, as the host's `beforeCommit` gets it and as `join` takes it. */
  readonly transaction: Tx
}

/**
 * A database server, as a driver's room (`postgres/`, `mysql/`, `kysely/`) opens it. What a driver throws is thrown on as
 * the error to tell: `STORAGE_BUSY` for a definite abort, which may be tried again; `STORAGE_UNAVAILABLE` when the server
 * is away, its outcome `unknown` where the connection was lost while committing. No connection is kept beyond the work.
 */
export interface Server<Tx> {
  /** Runs work on a connection of our own, each statement a transaction of its own. */
  plainly<T>(work: (connection: ServerConnection<Tx>) => Promise<T>): Promise<T>
  /** Runs reads on a connection of our own, all of which see the same. */
  inSnapshot<T>(work: (connection: ServerConnection<Tx>) => Promise<T>): Promise<T>
  /**
   * Runs work in a transaction of our own, and answers after its COMMIT: READ COMMITTED, its waits for locks bounded, its
   * commit durable. Work that throws is rolled back.
   */
  inTransaction<T>(work: (connection: ServerConnection<Tx>) => Promise<T>): Promise<T>
  /** The host's transaction, as a connection; errors on it ask for the host's transaction to be run again. @throws TypeError when it cannot be one */
  joined(transaction: Tx): ServerConnection<Tx>
  /** Whether the connection of a host's is inside a transaction, and that on our database. @throws TypeError when it is not, with the mend */
  refuseUnlessOpen(connection: ServerConnection<Tx>): Promise<void>
  /** What about the server endangers what is committed, and we cannot set. */
  warnings(): Promise<readonly string[]>
  /** Ends what we opened; the host's pool stays open. */
  close(): Promise<void>
}
