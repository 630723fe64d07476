import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { IdCodec } from '../ids.ts'
import type { Statement } from '../query.ts'
import type { Session } from '../session.ts'
import type { MergedStatements } from './merged-statements.ts'

/** Runs statements on one connection. */
export interface Runner {
  /** The connection itself, whichever object stands for it: the calls on it take turns. */
  readonly identity: object
  /** Whether statements may be sent before those ahead of them are answered. */
  readonly isPipelining?: boolean | undefined
  /** Runs a statement, and returns its rows as the library has them. @throws the error of the driver, unchanged */
  run(statement: Statement<unknown>): Promise<unknown>
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
  /** Returns the connection to its pool, once. One that is not sound is destroyed: its server may be silent. */
  release(isSound: boolean): void
}

/** What differs between database servers, whichever library talks to them. */
export interface ServerRules {
  /** What a transaction for changes needs behind the BEGIN of a library. */
  readonly setUp: readonly Statement<unknown>[]
  /** Raises the limit of statements in our transaction to five minutes, where a statement has none of its own. */
  readonly lengthen: readonly Statement<unknown>[]
  /**
   * Shortens the waits in our transaction, so that in a circle of waits it ends and is repeated before the server ends that of
   * the host. None where the server ends the one that has changed less.
   */
  readonly giveWay: readonly Statement<unknown>[]
  /** Returns a statement with its limits, for our own connections. */
  limited(statement: Statement<unknown>): Statement<unknown>
  /**
   * Checks the server and the connection, once.
   * @param ids - how ids are stored: older servers have no `uuid`
   * @throws ForgeError `STORAGE_UNAVAILABLE`, TypeError with what to do
   */
  refuseUnfit(session: Session, ids: IdCodec): Promise<void>
  /** Returns warnings about settings that endanger committed data and that the library cannot change. */
  warnings(session: Session): Promise<readonly string[]>
}

/** A database server through one library. */
export interface Server<Tx> extends ServerRules {
  /** What is sent ahead of all work on a connection of the pool: it ends a transaction that was left open there. */
  readonly first: readonly Statement<unknown>[]
  /** Merges statements, where the server can run several as one. */
  readonly merged?: MergedStatements
  /** Takes a connection out of the pool. */
  connect(): Promise<ServerConnection<Tx>>
  /** Wraps the host's transaction. @throws TypeError if it cannot be one */
  ofHost(transaction: Tx): Runner
  /** Closes what the storage opened. Does not wait for a server that does not answer. */
  close(): Promise<void>
}
