import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { IdCodec } from '../ids.ts'
import type { SqlValue, Statement } from '../query.ts'
import type { Session } from '../session.ts'
import type { MergedStatements } from './merged-statements.ts'

/** Runs statements on one connection: a `HostTransaction` is one. */
export interface Runner {
  /** The connection itself, whichever object stands for it: the calls on it take turns. */
  readonly identity: object
  /**
   * Sends statements before those ahead of them are answered, in as few packets as the library can. Undefined if it sends one at
   * a time.
   */
  readonly pipelined?: (<T>(send: () => T) => T) | undefined
  /** Runs a statement, and returns its rows as the library has them. @throws the error of the driver, unchanged */
  run(sql: string, parameters: readonly SqlValue[]): Promise<unknown>
}

/** A connection out of the pool of a client library. */
export interface Connection extends Runner {
  /** The transaction on it, as the host's ports and `beforeCommit` receive it. */
  readonly transaction: object
  /** The number by which the server knows the connection; undefined if the library does not say. */
  readonly serverId?: number | undefined
  /** Whether it is outside (I) or inside of a transaction (T, and E if that has failed); undefined if the library does not say. */
  readonly status?: unknown
  /** Commits. Returns false if the server has rolled back instead. Libraries that do not say so leave it out. */
  commit?(): Promise<boolean>
  /**
   * Returns the connection to its pool, once. One that is not sound is destroyed, or rolled back first where the library cannot
   * destroy it: its server may be silent.
   */
  release(isSound: boolean): MaybePromise<void>
}

/** A library that talks to a server: with a pool of its own, or of the host. */
export interface Client {
  /** How many connections it may open, as far as it says. */
  readonly size?: number | undefined
  /** Takes a connection out of the pool. */
  connect(): Promise<Connection>
  /** Closes the pool that the storage opened, if it did. Does not wait for a server that does not answer. */
  readonly close?: (() => Promise<void>) | undefined
}

/** What differs between database servers, whichever library talks to them. */
export interface ServerRules {
  /**
   * What ends a transaction that was left open on a connection, and begins one for changes.
   * @param lockWaitMs - how long a statement may wait for a lock, in milliseconds
   */
  begin(connection: Connection, lockWaitMs: number): readonly Statement<unknown>[]
  /** Commits. Returns false if the server has rolled back instead. */
  commit(connection: Connection): Promise<boolean>
  /** Raises the limit of statements in our transaction to five minutes, where a statement has none of its own. */
  readonly lengthen: readonly Statement<unknown>[]
  /**
   * Shortens the waits in our transaction, so that in a circle of waits it ends and is repeated before the server ends that of
   * the host. None where the server ends the one that has changed less.
   */
  readonly giveWay: readonly Statement<unknown>[]
  /** Merges statements, where the server can run several as one. */
  readonly merged?: MergedStatements
  /** The limits of a change that is one statement, which run first in it. Undefined where no change can be one. */
  readonly limitsAtOnce?: readonly Statement<unknown>[]
  /**
   * Returns a statement with its limits, for our own connections. Undefined where the BEGIN sets them.
   * @param lockWaitMs - as for `begin`
   */
  limited?(statement: Statement<unknown>, lockWaitMs: number): Statement<unknown>
  /**
   * Checks the server and the connection, once.
   * @param ids - how ids are stored: older servers have no `uuid`
   * @throws ForgeError `STORAGE_UNAVAILABLE`, TypeError with what to do
   */
  refuseUnfit(session: Session, ids: IdCodec): Promise<void>
  /** Returns warnings about settings that endanger committed data and that the library cannot change. */
  warnings(session: Session): Promise<readonly string[]>
  /** Returns a query for those of these connections that the server still has. */
  stillOpen(serverIds: readonly number[]): Statement<{ readonly id: number }>
}

/** A database server through one library. */
export interface Server extends ServerRules {
  readonly client: Client
  /** What is sent ahead of all work on a connection of the pool: it ends a transaction that was left open there. */
  readonly first: readonly Statement<unknown>[]
  /** Wraps the host's transaction. @throws TypeError if it cannot be one */
  ofHost(transaction: object): Runner
}
