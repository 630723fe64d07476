import { isForgeError } from '../../schema/errors.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { runMaybeAsync } from '../../schema/sync-or-async.ts'
import type { ForgeStorage } from '../contract/storage.ts'
import type { SqlContext } from './context.ts'
import type { SqlDialectName } from './dialect.ts'
import { busy, unavailable } from './errors.ts'
import type { SqlValue, Statement } from './query.ts'
import { limitedTo, MAX_CALL_MS, retryAfter } from './retry.ts'
import { Schema } from './schema/schema.ts'
import type { RowsOfEach, Statements } from './session.ts'
import { queryEach } from './session.ts'
import type { DatabaseRuntime } from './stores/ground.ts'

/** A statement of the host. `Row` is the shape of the rows that it returns, as the driver has them. */
export interface SqlStatement<Row = unknown> {
  /** One statement as the database writes it: parameters are `$1` on PostgreSQL, and `?` elsewhere. */
  readonly sql: string
  readonly parameters?: readonly SqlValue[] | undefined
  /** It may take five minutes, because that depends on the data. Default: five seconds. */
  readonly mayTakeLong?: true | undefined
  /** Carries the type only; never present at run time. */
  readonly row?: Row | undefined
}

/** How a transaction of `SqlDatabase` is limited. */
export interface SqlTransactionOptions {
  /** How long an attempt may take, and how long it is repeated, in milliseconds. Default: 5000. */
  readonly milliseconds?: number | undefined
}

/**
 * The database of a storage, for statements of the host: on the connections of the storage, with its deadlines, its retries
 * and the meanings of its errors. The tables of the forge need not be there. `Tx` is a transaction as the storage takes it.
 */
export interface SqlDatabase<Tx> {
  readonly dialect: SqlDialectName
  /**
   * Returns the rows of a statement. Outside of a transaction it only reads, and is repeated after a definite abort. On SQLite
   * it answers at once. Cast integers to doubles on a server: a driver may return them as texts.
   *
   * @param transaction - of `transaction`, of the host, or as a port receives it; the statement is part of it
   * @throws ForgeError `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`; any other error of the driver
   */
  rows<Row>(statement: SqlStatement<Row>, transaction?: Tx | undefined): MaybePromise<readonly Row[]>
  /** Runs statements in order, in as few round trips as possible, and returns the rows of each. Otherwise as `rows`. */
  rowsOfEach<Rows extends readonly unknown[]>(
    statements: { readonly [I in keyof Rows]: SqlStatement<Rows[I]> },
    transaction?: Tx | undefined,
  ): MaybePromise<{ readonly [I in keyof Rows]: readonly Rows[I][] }>
  /**
   * Runs `work` in a transaction, at READ COMMITTED on a server, and commits it: with `rows`, and with the services of the forge
   * by `withTransaction` or `withTransactionSync`. If the database aborts it in favour of another, all of it runs again.
   *
   * @param work - must not return a promise on SQLite; may run several times
   * @throws any error of `work`; ForgeError `STORAGE_BUSY`, `STORAGE_UNAVAILABLE`
   */
  transaction<T>(work: (transaction: Tx) => MaybePromise<T>, options?: SqlTransactionOptions): Promise<T>
  /**
   * Checks that the database answers within two seconds, that the tables of the forge can be used, and that the server takes
   * changes. Writes nothing. For a readiness probe.
   *
   * @throws ForgeError `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`, `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
   */
  check(): Promise<void>
}

/** A storage in a database that hosts can use too. */
export interface SqlStorage<Tx> extends ForgeStorage<Tx> {
  readonly database: SqlDatabase<Tx>
}

/** How long the check of the database may take, in milliseconds: those who ask wait for little longer. */
const MAX_CHECK_MS = 2000

/** The longest pause before a transaction is repeated, in milliseconds. */
const MAX_PAUSE_MS = 500

/** Creates the face of a storage for statements of the host. */
export function sqlDatabase<Tx>(context: SqlContext, runtime: DatabaseRuntime<Tx>): SqlDatabase<Tx> {
  const schema = new Schema(context)
  return {
    dialect: context.dialect.name,
    rows: (statement, transaction) => runtime.ofHost((session) => session.all(toStatement(statement)), transaction),
    rowsOfEach<Rows extends readonly unknown[]>(
      statements: { readonly [I in keyof Rows]: SqlStatement<Rows[I]> },
      transaction: Tx | undefined,
    ): MaybePromise<RowsOfEach<Rows>> {
      const each: readonly Statement<unknown>[] = statements.map(toStatement)
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: of the same length, with the same rows
      return runtime.ofHost((session) => runMaybeAsync(queryEach(session, each as Statements<Rows>)), transaction)
    },
    async transaction(work, { milliseconds = MAX_CALL_MS } = {}) {
      const attempt = () => runtime.inTransaction(work, { milliseconds })
      const limits = { ...limitedTo(milliseconds), maxPause: MAX_PAUSE_MS }
      try {
        return await attempt().catch((error) => retryAfter(error, attempt, limits))
      } catch (error) {
        throw isForgeError(error, 'STORAGE_BUSY') ? busy('call', error) : error
      }
    },
    check: () =>
      runtime.onConnection(
        (session) =>
          runMaybeAsync(
            (function* check() {
              yield* schema.refuseUnusable(session)
              const [obstacle] = yield* schema.readOnly(session)
              if (obstacle !== undefined) throw unavailable(obstacle)
            })(),
          ),
        {
          milliseconds: MAX_CHECK_MS,
          expired: () => unavailable('the database did not answer within two seconds'),
        },
      ),
  }
}

/** Some drivers refuse to collect rows from a statement that returns none. */
const RETURNS_ROWS = /^\s*(select|with|values|pragma|show)\b|\breturning\b/i

function toStatement<Row>({ sql, parameters = [], mayTakeLong }: SqlStatement<Row>): Statement<Row> {
  return { sql, parameters, returnsRows: RETURNS_ROWS.test(sql), ...(mayTakeLong && { mayTakeLong }) }
}
