import type { MaybePromise } from '../../../schema/steps.ts'
import { plainRows } from '../plain-rows.ts'
import type { SqlValue, Statement } from '../query.ts'
import type { Session } from '../session.ts'
import type { Retry } from './driver-errors.ts'
import { translateError } from './driver-errors.ts'
import type { PreparedStatement, SqliteHandle } from './handle.ts'
import { PreparedStatements } from './prepared-statements.ts'

/** One handle as a session: statements are prepared once, and every answer comes at once. */
export class Connection implements Session {
  readonly #handle: SqliteHandle
  readonly #retry: Retry
  readonly #statements: PreparedStatements

  /**
   * @param retry - what a busy database asks the caller to try again
   * @param owner - who closes the handle
   */
  constructor(handle: SqliteHandle, retry: Retry, owner: 'us' | 'host') {
    this.#handle = handle
    this.#retry = retry
    this.#statements = new PreparedStatements(handle, owner)
  }

  all<Row>({ sql, parameters, returnsRows }: Statement<Row>): readonly Row[] {
    try {
      if (returnsRows) return this.#statements.use(sql, (statement) => plainRows(statement.all(...parameters)))

      this.#statements.use(sql, (statement) => perform(statement, parameters))
      return []
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  /** Nothing else runs meanwhile: what the host may not do is refused where it calls. */
  lend<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return work()
  }

  /** Runs a statement that has no parameters, for what it does. */
  command(sql: string): void {
    this.all({ sql, parameters: NONE, returnsRows: false })
  }

  /** Runs a text of statements that may not be prepared, or give rows that nobody wants. */
  exec(sql: string): void {
    try {
      this.#handle.exec(sql)
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  /** Lets go of the handle, so that it can be closed. */
  end(): void {
    this.#statements.end()
  }
}

const NONE: readonly SqlValue[] = []

/** node:sqlite answers with the last rowid, and throws where that is no safe number: it may be an id of the host's. */
function perform(statement: PreparedStatement, parameters: readonly SqlValue[]): void {
  if ('setReadBigInts' in statement && typeof statement.setReadBigInts === 'function') statement.setReadBigInts(true)
  statement.run(...parameters)
}
