import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Retry } from '../errors.ts'
import type { IdCodec } from '../ids.ts'
import type { Statement } from '../query.ts'

/** The rows of each statement. */
export type Rows = readonly (readonly unknown[])[]

/** Sends statements. @throws the errors of `ServerRules.translate`; ForgeError `STORAGE_BUSY` if the call is over */
export type Send = (statements: readonly Statement<unknown>[]) => Promise<Rows>

/** Runs statements on one connection. */
export interface Runner {
  /** The connection itself, whichever object stands for it: the calls on it take turns. */
  readonly identity: object
  /**
   * Runs statements in order, and returns the rows of each. If one fails, those behind it in a transaction have no effect.
   * @param refuse - called ahead of each message; throws if the call has ended meanwhile
   * @throws the error of the driver, unchanged
   */
  run(statements: readonly Statement<unknown>[], refuse?: () => void): Promise<Rows>
}

/** A connection out of the pool. */
export interface ServerConnection<Tx> extends Runner {
  /** The transaction, as the host's `beforeCommit` receives it. It exists once the transaction has begun. */
  readonly transaction: Tx
  /** Begins a transaction. Returns what must still be sent, ahead of the first statement. */
  begin(): MaybePromise<readonly Statement<unknown>[]>
  /** Commits. Returns false if the server has rolled back instead. */
  commit(): Promise<boolean>
  rollBack(): Promise<unknown>
  /** Runs the host's code, which uses the connection. */
  lend<T>(work: () => Promise<T>): Promise<T>
  /** Returns the connection to its pool. A spoilt one is destroyed at once: its server may be silent. */
  release(state: 'sound' | 'spoilt'): void
}

/** What differs between database servers, whichever library talks to them. */
export interface ServerRules {
  /** What is sent to begin a transaction. */
  readonly begin: readonly Statement<unknown>[]
  /** What a transaction for changes needs behind the BEGIN of a library. */
  readonly setUp: readonly Statement<unknown>[]
  /** Returns the text of a statement with its settings: on our own connection, or in a transaction of the host. */
  textOf(statement: Statement<unknown>, whose: 'own' | 'host'): string
  /** Raises the limit of statements in our transaction to five minutes. Undefined if each statement has its own. */
  readonly lengthen: Statement<unknown> | undefined
  /**
   * Checks the server and the connection, once.
   * @param ids - how ids are stored: older servers have no `uuid`
   * @throws ForgeError `STORAGE_UNAVAILABLE`, TypeError with what to do
   */
  refuseUnfit(send: Send, ids: IdCodec): Promise<void>
  /** Returns warnings about settings that endanger committed data and that the library cannot change. */
  warnings(send: Send): Promise<readonly string[]>
  /**
   * Returns the error to throw for an error of the driver, which is its cause: `STORAGE_BUSY` for a definite abort,
   * `STORAGE_UNAVAILABLE`, `BrokenReference`. Any other error is a fault and is returned unchanged. Messages contain
   * neither SQL nor addresses.
   */
  translate(error: unknown, retry: Retry): unknown
  /** Returns whether a failed COMMIT was refused by a server that keeps running: then nothing is committed. */
  saysRefused(error: unknown): boolean
  /** Returns whether no transaction is open. */
  saysNoTransaction(error: unknown): boolean
  /** Returns whether the server accepts no more connections. */
  saysFull(error: unknown): boolean
}

/** A database server through one library. */
export interface Server<Tx> extends ServerRules {
  /** Takes a connection out of the pool. */
  connect(): Promise<ServerConnection<Tx>>
  /** Wraps the host's transaction. @throws TypeError if it cannot be one */
  ofHost(transaction: Tx): Runner
  /** Closes what the storage opened. Does not wait for a server that does not answer. */
  close(): Promise<void>
}
