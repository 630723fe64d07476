import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Retry } from '../errors.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from './call-deadline.ts'
import type { IsolationLevel } from './client.ts'
import type { ServerConnection, StatementRunner } from './connection.ts'

/** What a transaction of our own is for: to change something, or to read one snapshot. */
export type Purpose = 'changes' | 'snapshot'

/** What a statement belongs to. Only statements of our own are limited by the settings of the storage. */
export interface StatementUse {
  /** `reads` includes migrations, whose statements have settings of their own. */
  readonly purpose: 'reads' | 'changes' | 'host-transaction'
  readonly deadline: Deadline
}

/** One of our own connections, before the work on it. */
export interface OwnConnection {
  readonly connection: ServerConnection
  readonly identity: object | undefined
  /** Whether statements with parameters are sent in one round trip. */
  readonly sendsTogether: boolean
  /** Whether a transaction is open, if the library knows it without a query. */
  readonly status: 'inside' | 'outside' | undefined
  /** Whether the host may have done anything on it since the storage used it. */
  readonly isHosts: boolean
}

/** What a check of one of our own connections has found. */
export interface ConnectionState {
  /** Whether the host had left a transaction open, which is rolled back now. */
  readonly leftOpen: boolean
  /** Ends the transactions that statements begin by themselves. Undefined if each statement is its own transaction. */
  readonly commitEach?: Statement<unknown> | undefined
}

/** A transaction that is begun by statements. */
export interface Beginning {
  readonly purpose: Purpose
  readonly deadline: Deadline
  /** Called if the host had left a transaction open, which is rolled back. */
  readonly leftOpen: () => void
}

/** A host's transaction, for the check before each change. */
export interface HostConnection {
  readonly connection: ServerConnection
  readonly runner: StatementRunner & { readonly identity: object }
  /** Runs work on one of our own connections, outside the host's transaction. */
  beside<T>(work: (own: ServerConnection) => Promise<T>): Promise<T>
}

/**
 * The rules of one kind of database, whatever library is used: what its settings must be, how its transactions begin
 * and end, and what its errors mean. An object belongs to one storage, and records what that storage has found out
 * about its database.
 */
export interface DatabaseRules {
  /** Ends a transaction, whatever the host has set on the connection. */
  readonly commit: Statement<unknown>
  readonly rollBack: Statement<unknown>
  /** The isolation level of each transaction that a library begins itself. Undefined if the database has only one. */
  readonly levels: Readonly<Record<Purpose, IsolationLevel | undefined>>

  /** Whether a failed statement can end a transaction, so that the next statements are committed by themselves. */
  readonly losesTransactions: boolean

  /** Returns the error to throw for a failed statement, as `connection.ts` defines it. */
  translate(error: unknown, retry: Retry): unknown
  /** Returns the error to throw if no connection was provided. */
  translateConnect(error: unknown): unknown
  /** Returns whether the server has refused a connection because it has too many, or the user has. */
  saysFull(error: unknown): boolean
  /** Returns the error to throw for a failed COMMIT. Only the answer of the database is decisive. */
  translateCommit(error: unknown): unknown
  /**
   * Returns the error to throw for an error of the work in one of our transactions. The host's own code may have thrown
   * it, and it may then refer to another connection: only the ROLLBACK shows whether ours is lost.
   */
  translateWork(error: unknown, rollBack: 'done' | 'failed'): unknown

  /** Returns a function that prefixes statements with their settings. */
  prepare(use: StatementUse): ((statement: Statement<unknown>) => string) | undefined
  /** Returns what returns the settings of several statements that are sent as one. Undefined for none. */
  frame(use: StatementUse): (() => string) | undefined
  /** Called before the host's code gets one of our own connections, and may change its settings. */
  lent(identity: object | undefined): void
  /** Checks the server of a connection, the first time. @throws ForgeError `STORAGE_UNAVAILABLE` if it cannot be used */
  refuseServer(connection: ServerConnection): Promise<void>
  /**
   * Checks one of our own connections, and rolls back a transaction that the host left open on it.
   * @throws TypeError if it cannot be used, with what to do
   */
  check(own: OwnConnection): MaybePromise<ConnectionState>
  /**
   * Begins a transaction by statements, and checks the connection as `check` does. Returns what runs the statements of
   * the transaction. It may begin together with the first of them.
   */
  begin(own: OwnConnection, beginning: Beginning): MaybePromise<ServerConnection>
  /** Prepares a transaction for changes that a library has begun, and returns what runs its statements. */
  setUp(connection: ServerConnection, deadline: Deadline): Promise<ServerConnection>

  /**
   * Checks a host's transaction, before every change in it. @throws TypeError if it is not open, or not on the
   * storage's database, with what to do; ForgeError `STORAGE_BUSY` if it has failed, or if another writer holds its lock
   */
  refuseUnlessOpen(host: HostConnection): Promise<void>
  /** Called with each error in a host's transaction, as the library threw it. */
  failedInHostTransaction(runner: StatementRunner & { readonly identity: object }, error: unknown): Promise<void>

  /** Returns warnings about settings of the database that endanger committed data, which the library cannot change. */
  warnings(connection: ServerConnection): Promise<readonly string[]>
}
