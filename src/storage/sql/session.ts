import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { Statement } from './query.ts'

/** Runs statements on one connection. */
export interface Queryable {
  /**
   * Runs a statement and gives its rows; none when it gives none back.
   * @throws ForgeError `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
   */
  all<Row>(statement: Statement<Row>): MaybePromise<readonly Row[]>
}

/** One connection, as the stores see it. */
export interface Session extends Queryable {
  /** Runs the host's own code on the connection, in the middle of ours: it may read through the storage there, and change nothing. */
  lend<T>(work: () => MaybePromise<T>): MaybePromise<T>
}

/** Where a write runs, and what may call it off. */
export interface WriteCircumstances<Tx> {
  /** The host's open transaction; undefined = one of our own. */
  readonly transaction?: Tx | undefined
  /** Asked before every attempt: when it has aborted, the write ends with its reason. */
  readonly signal?: AbortSignal | undefined
  /** How long the storage has already taken for the same call, in milliseconds. */
  readonly spentMilliseconds?: number | undefined
}

/** Where the stores' work runs: on connections of our own, or inside the host's transaction when one is given. */
export interface SqlRuntime<Tx> {
  /** Reads what is committed; what the statements see may change from one to the next. */
  read<T>(work: (session: Session) => SyncOrAsync<T>, transaction: Tx | undefined): MaybePromise<T>
  /** Reads what is committed; all statements see the same. */
  readSnapshot<T>(work: (session: Session) => SyncOrAsync<T>, transaction: Tx | undefined): MaybePromise<T>
  /** Reads what is committed, also while a host's transaction is open; `hidden` when that cannot be seen now. */
  readOutside<T>(work: (session: Session) => SyncOrAsync<T>, hidden: T): MaybePromise<T>
  /** Writes all or nothing, and answers after the commit; inside a host's transaction at once. The work may run again. */
  write<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    circumstances: WriteCircumstances<Tx>,
  ): MaybePromise<T>
}

/** The rows of a statement. */
export function* query<Row>(session: Queryable, statement: Statement<Row>): SyncOrAsync<readonly Row[]> {
  return yield* wait(session.all(statement))
}

/** The first row of a statement, if it gives one. */
export function* queryFirst<Row>(session: Queryable, statement: Statement<Row>): SyncOrAsync<Row | undefined> {
  const rows = yield* query(session, statement)
  return rows[0]
}

/** Runs a statement for what it does. */
export function* execute(session: Queryable, statement: Statement<unknown>): SyncOrAsync<void> {
  yield* query(session, statement)
}
