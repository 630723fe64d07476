import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { ChangeCircumstances } from '../contract/stores.ts'
import type { Statement } from './query.ts'
import { rowsOf } from './query.ts'
import type { CallLimits } from './retry.ts'

/** One connection, as the stores use it. */
export interface Session {
  /**
   * Runs a statement and returns its rows; an empty list if it returns none.
   * @throws ForgeError `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
   */
  all<Row>(statement: Statement<Row>): MaybePromise<readonly Row[]>
  /** Runs a query that finds at most one row, and returns that row. */
  first<Row>(statement: Statement<Row>): MaybePromise<Row | undefined>
  /**
   * Runs statements in order, in as few round trips as the connection can, and returns the rows of each. A statement
   * sees what those before it have done. If one fails, those behind it have no effect, and its error is thrown.
   */
  batch(statements: readonly Statement<unknown>[], sending?: Sending): MaybePromise<readonly (readonly unknown[])[]>
  /**
   * Runs the host's code on the connection in the middle of a change. That code may read through the storage there, but
   * change nothing.
   */
  runHostCode<T>(work: () => MaybePromise<T>): MaybePromise<T>
}

/** The session of a change that is one statement. Both calls return undefined if statements cannot be run as one. */
export interface AtOnceSession extends Session {
  /** Reads the rows of each statement as they are at one moment. */
  readAtOnce(statements: readonly Statement<unknown>[]): MaybePromise<readonly (readonly unknown[])[] | undefined>
  /**
   * Runs statements in order, in a transaction of their own, and returns the rows of each that needs none. No statement sees what those
   * before it have done, and no two may write the same row. Also returns undefined if the server refused the change, or if a row was
   * missing that a statement needs: then nothing is written.
   *
   * @throws ForgeError `STORAGE_UNAVAILABLE` with the outcome `unknown` if the server did not answer
   */
  commitAtOnce(statements: readonly Statement<unknown>[]): MaybePromise<readonly (readonly unknown[])[] | undefined>
}

/** What is known of statements that are sent together. */
export interface Sending {
  /** They may wait for a row that a transaction of the host has locked, and have locked others which that waits for. */
  readonly givesWay?: boolean
  /** From this one on, each changes rows that no other of them changes or reads: any order will do. */
  readonly independentFrom?: number
}

/** Where a write runs, and what may abort it. */
export type WriteCircumstances<Tx> = Pick<ChangeCircumstances<Tx>, 'transaction' | 'signal'> & {
  readonly limits?: CallLimits
}

/** Runs the work of the stores: on our own connections, or inside the host's transaction if one is given. */
export interface SqlRuntime<Tx> {
  /**
   * Reads committed data. Different statements may see different states. The work is a plain function: most reads are
   * one statement, and a generator costs a tenth of it on SQLite.
   */
  read<T>(
    work: (session: Session) => MaybePromise<T>,
    transaction: Tx | undefined,
    limits?: CallLimits,
  ): MaybePromise<T>
  /**
   * Writes all or nothing, and returns after the commit; inside a host's transaction it returns immediately. The work
   * may run again.
   *
   * @param atOnce - makes the same change without a lock, in one statement. It returns undefined if nothing was written, and then
   * the work runs. It runs only where the database can do so, and outside a host's transaction
   */
  write<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    circumstances: WriteCircumstances<Tx>,
    atOnce?: (session: AtOnceSession) => SyncOrAsync<T | undefined>,
  ): MaybePromise<T>
}

/** Runs a statement, and returns its rows. */
export function query<Row>(session: Session, statement: Statement<Row>): SyncOrAsync<readonly Row[]> {
  return wait(session.all(statement))
}

/** Returns the first row of a statement, if any. */
export function queryFirst<Row>(session: Session, statement: Statement<Row>): SyncOrAsync<Row | undefined> {
  return wait(session.first(statement))
}

/** Statements, by the rows that each returns. */
export type Statements<Rows extends readonly unknown[]> = { readonly [I in keyof Rows]: Statement<Rows[I]> }

/** The rows of each statement. */
export type RowsOfEach<Rows extends readonly unknown[]> = { readonly [I in keyof Rows]: readonly Rows[I][] }

/** Returns rows of statements with the types of their rows. */
export function rowsOfEach<Rows extends readonly unknown[]>(rows: readonly (readonly unknown[])[]): RowsOfEach<Rows> {
  const all: unknown = rows
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row types were inferred from the queries
  return all as RowsOfEach<Rows>
}

/** Runs statements in order, in as few round trips as possible, and returns the rows of each. */
export function* queryEach<Rows extends readonly unknown[]>(
  session: Session,
  statements: Statements<Rows>,
  sending?: Sending,
): SyncOrAsync<RowsOfEach<Rows>> {
  return rowsOfEach<Rows>(yield* wait(session.batch(statements, sending)))
}

/** Same as `queryEach`, for statements of one kind and then of several. */
export function* queryEachAfter<First, Rows extends readonly unknown[]>(
  session: Session,
  first: readonly Statement<First>[],
  rest: Statements<Rows>,
  sending?: Sending,
): SyncOrAsync<readonly [readonly (readonly First[])[], RowsOfEach<Rows>]> {
  const rows = yield* wait(session.batch([...first, ...rest], sending))
  return [rows.slice(0, first.length).map(rowsOf<First>), rowsOfEach<Rows>(rows.slice(first.length))]
}
