import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { Retry } from '../errors.ts'
import type { SqlValue, Statement } from '../query.ts'
import { plainRow, plainRows } from '../query.ts'
import type { Session } from '../session.ts'
import { saysClosed, translateError } from './errors.ts'
import type { PreparedStatement, SqliteHandle } from './handle.ts'
import { PreparedStatements } from './handle.ts'

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

  all<Row>(statement: Statement<Row>): readonly Row[] {
    if (statement.atMostOne === true) {
      const row = this.first(statement)
      return row === undefined ? [] : [row]
    }

    const { sql, parameters, returnsRows } = statement
    try {
      if (returnsRows) return this.#statements.use(sql, (prepared) => plainRows(getRows(prepared, parameters)))

      this.#statements.use(sql, (prepared) => perform(prepared, parameters))
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

  /**
   * Runs the host's code in the middle of work, which goes on behind it: in the same transaction, or not at all. Nothing
   * else runs meanwhile: calls that the host may not make are refused where it makes them.
   * @throws TypeError if the code left the transaction, or a statement open that was writing
   */
  lend<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    this.command('savepoint forgelet_lent')
    return after(work(), (value) => {
      this.release('forgelet_lent')
      return value
    })
  }

  /** Ends a savepoint. @throws TypeError if the host's code left the transaction, or a statement open that was writing */
  release(savepoint: string): void {
    try {
      this.command(`release ${savepoint}`)
    } catch (error) {
      if (isForgeError(error) && !saysClosed(error.cause)) throw error
      const message = 'beforeCommit must leave its transaction open and without an unfinished statement'
      throw new TypeError(message, { cause: error })
    }
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
