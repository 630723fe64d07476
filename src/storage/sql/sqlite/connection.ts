import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { SqlValue, Statement } from '../query.ts'
import { plainRows } from '../query.ts'
import type { Session } from '../session.ts'
import type { Retry } from './errors.ts'
import { saysFinalized, translateError } from './errors.ts'
import type { PreparedStatement, SqliteHandle } from './handle.ts'

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

/** Statements kept for each handle; those of the audit view come in many shapes. */
const MEMO_SIZE = 200

/**
 * The statements of one handle, prepared once and used again. bun:sqlite is different: there a handle lives on, and keeps
 * its file, until each of its statements is finalized. Ours are finalized when we end; on the host's handle none is kept.
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

  /** Runs work with a statement. */
  use<T>(sql: string, work: (statement: PreparedStatement) => T): T {
    const kept = this.#kept.get(sql)
    if (kept === undefined) return this.#useNew(sql, work)
    try {
      return work(kept)
    } catch (error) {
      if (!saysFinalized(error)) throw error
    }

    this.#kept.clear() // the host has closed its handle, which finalized them, and perhaps opened it again
    return this.#useNew(sql, work)
  }

  /** Lets go of every statement. */
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
