import type { SqlValue, Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Retry } from '../server/failures.ts'
import type { ServerConnection } from '../server/server.ts'
import { translateError } from './driver-errors.ts'
import type { MysqlConnection, MysqlQuery } from './mysql-pool.ts'

/** How statements run on a connection. */
export interface Running {
  /** What the caller must run again after a definite abort. */
  readonly retry: Retry
  /** The deadline of the call. */
  readonly deadline: Deadline
  /** Prefixes a statement with its settings. */
  readonly prepare: (statement: Statement<unknown>) => string
  /** Ends the transaction that a statement has begun, on a connection without autocommit. */
  readonly endsEach?: boolean | undefined
  /** Called with each error that mysql2 throws. */
  readonly failed?: ((error: unknown) => Promise<void>) | undefined
}

/** A connection of mysql2 as a connection of the storage. */
export class MysqlServerConnection<C extends MysqlConnection> implements ServerConnection<C> {
  readonly transaction: C
  readonly #running: Running

  constructor(transaction: C, running: Running) {
    this.transaction = transaction
    this.#running = running
  }

  async all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    const { retry, deadline, prepare, endsEach, failed } = this.#running
    try {
      const prepared = { ...statement, sql: prepare(statement) }
      const rows = await deadline.ask(() => ask(this.transaction, prepared), statement.mayTakeLong)
      if (endsEach) await deadline.ask(() => this.transaction.query(COMMIT))
      return rows
    } catch (error) {
      await failed?.(error)
      throw translateError(error, retry)
    }
  }
}

/** A host may have set `completion_type`: then a bare COMMIT begins another transaction, or ends the connection. */
export const COMMIT = 'commit and no chain no release'

/** Runs a statement and returns its rows. @throws the errors of mysql2 */
export async function ask<Row>(
  connection: MysqlConnection,
  { sql, parameters, returnsRows }: Statement<Row>,
): Promise<readonly Row[]> {
  if (!returnsRows && parameters.length === 0) {
    await connection.query(sql) // too rare to be kept prepared on every connection
    return []
  }

  const answer = await connection.execute(queryOf(sql, parameters))
  const rows: unknown = Array.isArray(answer) ? answer[0] : undefined
  if (!returnsRows || !Array.isArray(rows)) return []
  return rows as readonly Row[] // unknown data: the row type was inferred from the query
}

/**
 * Runs a query that reads no table and, in the same round trip, statements that return no rows. They are sent as text,
 * because a server of 10.11 crashes on a read of its catalogue in a prepared compound statement. @throws the errors of
 * mysql2
 */
export async function askBefore<Row>(
  connection: MysqlConnection,
  query: Statement<Row>,
  statements: string,
): Promise<readonly Row[]> {
  const answer = await connection.query(queryOf(`begin not atomic ${query.sql}; ${statements}; end`, []))
  const [rows]: readonly unknown[] = Array.isArray(answer) && Array.isArray(answer[0]) ? answer[0] : []
  return (Array.isArray(rows) ? rows : []) as readonly Row[] // unknown data, as in `ask`
}

/**
 * Runs a query as text: a prepared statement runs in the database that was current when it was prepared. @throws the
 * errors of mysql2
 */
export async function askAsText<Row>(connection: MysqlConnection, { sql }: Statement<Row>): Promise<readonly Row[]> {
  const answer = await connection.query(queryOf(sql, []))
  const rows: unknown = Array.isArray(answer) ? answer[0] : undefined
  return (Array.isArray(rows) ? rows : []) as readonly Row[] // unknown data, as in `ask`
}

/** Sets, for each query, the options that a host may have changed for all of them. */
function queryOf(sql: string, parameters: readonly SqlValue[]): MysqlQuery {
  return {
    sql,
    values: [...parameters],
    rowsAsArray: false,
    nestTables: false,
    namedPlaceholders: false,
    typeCast: asIs,
  }
}

/** A function, because mysql2 prefers a host's function to a plain `true`. */
function asIs(_field: unknown, next: () => unknown): unknown {
  return next()
}
