import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Retry } from '../errors.ts'
import type { SqlValue, Statement } from '../query.ts'
import { plainRow, plainRows } from '../query.ts'
import type { Session } from '../session.ts'
import { saysFinalized, translateError } from './errors.ts'
import type { PreparedStatement, SqliteHandle } from './handle.ts'
import { lend } from './transactions.ts'

/** One handle as a session. Statements are prepared once, and every call is synchronous. */
export class Connection implements Session {
  readonly #handle: SqliteHandle
  readonly #retry: Retry
  readonly #statements: PreparedStatements

  /**
   * @param retry - what the caller must run again if the database is busy
   * @param owner - who closes the handle
   */
  constructor(handle: SqliteHandle, retry: Retry, owner: 'us' | 'host') {
    this.#handle = handle
    this.#retry = retry
    this.#statements = new PreparedStatements(handle, owner)
  }

  all<Row>({ sql, parameters, returnsRows }: Statement<Row>): readonly Row[] {
    try {
      if (returnsRows) return this.#statements.use(sql, (statement) => plainRows(getRows(statement, parameters)))

      this.#statements.use(sql, (statement) => perform(statement, parameters))
      return []
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  first<Row>({ sql, parameters }: Statement<Row>): Row | undefined {
    try {
      return this.#statements.use(sql, (statement) => plainRow(getRow(statement, parameters)))
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  batch(statements: readonly Statement<unknown>[]): readonly (readonly unknown[])[] {
    return statements.map((statement) => this.all(statement))
  }

  /** Runs the statement at once: nothing is gained by waiting. */
  defer<Row>(statement: Statement<Row>, check?: (rows: readonly Row[]) => void): void {
    const rows = this.all(statement)
    check?.(rows)
  }

  /** Nothing else runs meanwhile: calls that the host may not make are refused where it makes them. */
  lend<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return lend(this, work)
  }

  /** Runs a statement without parameters for its effect. */
  command(sql: string): void {
    this.all({ sql, parameters: NONE, returnsRows: false })
  }

  /** Runs a text of statements that may not be prepared, or whose rows are not needed. */
  exec(sql: string): void {
    try {
      this.#handle.exec(sql)
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  /** Finalizes the statements, so that the handle can be closed. */
  end(): void {
    this.#statements.end()
  }
}

const NONE: readonly SqlValue[] = []

// Most reads find rows by a key of two values. Passing them one by one saves a twelfth of the read: a spread is slow.
function getRow(statement: PreparedStatement, parameters: readonly SqlValue[]): unknown {
  return parameters.length === 2 ? statement.get(parameters[0], parameters[1]) : statement.get(...parameters)
}

function getRows(statement: PreparedStatement, parameters: readonly SqlValue[]): readonly unknown[] {
  return parameters.length === 2 ? statement.all(parameters[0], parameters[1]) : statement.all(...parameters)
}

/** node:sqlite returns the last rowid, and throws if that is not a safe integer: it may be an id of the host. */
function perform(statement: PreparedStatement, parameters: readonly SqlValue[]): void {
  if ('setReadBigInts' in statement && typeof statement.setReadBigInts === 'function') statement.setReadBigInts(true)
  statement.run(...parameters)
}

/** The number of statements kept for each handle. The audit view has statements of many shapes. */
const MEMO_SIZE = 200

/**
 * The statements of one handle, prepared once and reused. In bun:sqlite a handle stays open, and keeps its file, until
 * each of its statements is finalized. Our statements are finalized when the connection ends; on the host's handle none
 * is kept.
 */
export class PreparedStatements {
  readonly #handle: SqliteHandle
  readonly #owner: 'us' | 'host'
  readonly #kept = new Map<string, PreparedStatement>()

  /** @param owner - who closes the handle */
  constructor(handle: SqliteHandle, owner: 'us' | 'host') {
    this.#handle = handle
    this.#owner = owner
  }

  /** Runs work with a prepared statement. */
  use<T>(sql: string, work: (statement: PreparedStatement) => T): T {
    const kept = this.#kept.get(sql)
    if (kept === undefined) return this.#useNew(sql, work)
    try {
      return work(kept)
    } catch (error) {
      if (!saysFinalized(error)) throw error
    }

    this.#kept.clear() // the host closed its handle, which finalized them, and may have opened it again
    return this.#useNew(sql, work)
  }

  /** Finalizes every statement. */
  end(): void {
    for (const statement of this.#kept.values()) finalize(statement)
    this.#kept.clear()
  }

  #useNew<T>(sql: string, work: (statement: PreparedStatement) => T): T {
    const statement = this.#handle.prepare(sql)
    if (this.#owner === 'us' || !isFinalizable(statement)) {
      this.#keep(sql, statement)
      return work(statement)
    }
    try {
      return work(statement)
    } finally {
      finalize(statement)
    }
  }

  #keep(sql: string, statement: PreparedStatement): void {
    const [oldest] = this.#kept
    if (oldest !== undefined && this.#kept.size >= MEMO_SIZE) {
      this.#kept.delete(oldest[0])
      finalize(oldest[1])
    }
    this.#kept.set(sql, statement)
  }
}

function isFinalizable(statement: PreparedStatement): statement is PreparedStatement & { finalize(): unknown } {
  return 'finalize' in statement && typeof statement.finalize === 'function'
}

function finalize(statement: PreparedStatement): void {
  if (isFinalizable(statement)) statement.finalize()
}
