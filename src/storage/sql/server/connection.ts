import type { Statement } from '../query.ts'
import type { Queryable } from '../session.ts'
import type { Deadline } from './call-deadline.ts'

/**
 * A connection to a database server, within the deadline of a call. Failures are thrown as the errors of
 * `errors.ts`: `STORAGE_BUSY` for a definite abort, which may be retried; `STORAGE_UNAVAILABLE` if the server is
 * unreachable; `BrokenReference` if one of our foreign keys refused the row. Any other error is a fault and is thrown
 * unchanged.
 */
export interface ServerConnection extends Queryable {
  all<Row>(statement: Statement<Row>): Promise<readonly Row[]>
  /**
   * Runs statements in order, without the settings that the rules prefix others with: in one round trip, if the library
   * can do that. Returns the rows of each.
   */
  run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]>
  /**
   * Runs statements in order, each with its settings, in as few round trips as the library can. Returns the rows of
   * each.
   *
   * @param opening - statements that run first, without settings; their rows are returned first
   */
  batch(
    statements: readonly Statement<unknown>[],
    opening?: readonly Statement<unknown>[],
  ): Promise<readonly (readonly unknown[])[]>
}

/** A connection in an open transaction. */
export interface ServerTransaction<Tx> extends ServerConnection {
  /** The driver's own connection, as the host's `beforeCommit` receives it and as `withTransaction` accepts it. */
  readonly transaction: Tx
  /** Runs the host's `beforeCommit`. @throws TypeError if that leaves a transaction of our own unusable */
  lend<T>(work: () => Promise<T>): Promise<T>
}

/** Runs statements on one connection of a library. */
export interface StatementRunner {
  /**
   * The connection, as the library keeps it: the same object whenever the connection is handed out. Undefined if it
   * cannot be determined.
   */
  readonly identity: object | undefined
  /**
   * Runs statements in order, in one round trip if the library can do that, and returns the rows of each. If one fails,
   * those behind it in a transaction have no effect.
   * @param settings - for libraries that send several statements as one: the settings of that one
   * @throws the errors of the library, unchanged: that of the first statement that failed
   */
  run(statements: readonly Statement<unknown>[], settings?: string): Promise<readonly (readonly unknown[])[]>
  /**
   * How many statements `run` sends in one round trip at most. If 1, only statements without parameters are sent
   * together.
   */
  readonly maxTogether: number
}

/** Returns the error to throw for a failed statement. */
export type Translate = (error: unknown) => unknown

/** How statements run on a connection. */
export interface RunOptions {
  readonly deadline: Deadline
  /** Prefixes a statement with its settings. */
  readonly prepare?: ((statement: Statement<unknown>) => string) | undefined
  /** Returns the settings of several statements that are sent as one. */
  readonly frame?: (() => string) | undefined
  /** Ends the transaction that a statement has begun, on a connection without autocommit. */
  readonly commitEach?: Statement<unknown> | undefined
  /** Called with each error, as the library threw it. */
  readonly failed?: ((error: unknown) => Promise<void>) | undefined
}

/** A connection of a library, as a connection of the storage. */
export class LimitedConnection implements ServerConnection {
  readonly #runner: StatementRunner
  readonly #options: RunOptions
  readonly #translate: Translate

  constructor(runner: StatementRunner, options: RunOptions, translate: Translate) {
    this.#runner = runner
    this.#options = options
    this.#translate = translate
  }

  all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    const { prepare, commitEach } = this.#options
    const prepared: Statement<unknown> = prepare === undefined ? statement : { ...statement, sql: prepare(statement) }
    const rows = this.#ask([prepared], statement.mayTakeLong).then(rowsOfFirst<Row>, (error) => this.#fail(error))
    return commitEach === undefined ? rows : rows.then((found) => this.run([commitEach]).then(() => found))
  }

  run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    return this.#run(statements)
  }

  batch(
    statements: readonly Statement<unknown>[],
    opening: readonly Statement<unknown>[] = [],
  ): Promise<readonly (readonly unknown[])[]> {
    const { prepare, frame, commitEach } = this.#options
    const isOne = statements.length + opening.length < 2
    const { maxTogether } = this.#runner
    if (commitEach !== undefined || isOne || maxTogether === 1) return this.#oneByOne(statements, opening)

    const prepared = prepare === undefined ? statements : statements.map((one) => ({ ...one, sql: prepare(one) }))
    const mayTakeLong = statements.some((statement) => statement.mayTakeLong === true)
    const all = opening.length === 0 ? prepared : [...opening, ...prepared]
    return all.length > maxTogether
      ? this.#inParts(all, maxTogether, mayTakeLong)
      : this.#run(all, mayTakeLong, frame?.())
  }

  /** Each part checks the deadline: a call that has ended sends nothing more. */
  async #inParts(
    statements: readonly Statement<unknown>[],
    maxTogether: number,
    mayTakeLong: boolean,
  ): Promise<readonly (readonly unknown[])[]> {
    const rows: (readonly unknown[])[] = []
    for (let start = 0; start < statements.length; start += maxTogether) {
      const part = statements.slice(start, start + maxTogether)
      rows.push(...(await this.#run(part, mayTakeLong, this.#options.frame?.())))
    }
    return rows
  }

  async #oneByOne(
    statements: readonly Statement<unknown>[],
    opening: readonly Statement<unknown>[],
  ): Promise<readonly (readonly unknown[])[]> {
    const rows = opening.length === 0 ? [] : [...(await this.run(opening))]
    for (const statement of statements) rows.push(await this.all(statement))
    return rows
  }

  #run(
    statements: readonly Statement<unknown>[],
    mayTakeLong?: boolean,
    settings?: string,
  ): Promise<readonly (readonly unknown[])[]> {
    return this.#ask(statements, mayTakeLong, settings).catch((error) => this.#fail(error))
  }

  #ask(
    statements: readonly Statement<unknown>[],
    mayTakeLong?: boolean,
    settings?: string,
  ): Promise<readonly (readonly unknown[])[]> {
    return this.#options.deadline.ask(() => this.#runner.run(statements, settings), mayTakeLong)
  }

  async #fail(error: unknown): Promise<never> {
    await this.#options.failed?.(error)
    throw this.#translate(error)
  }
}

function rowsOfFirst<Row>([rows = []]: readonly (readonly unknown[])[]): readonly Row[] {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
  return rows as readonly Row[]
}
