import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Statement } from '../query.ts'
import type { ServerTransaction } from './connection.ts'

/** A statement whose rows nothing waits for. */
interface Deferred {
  readonly statement: Statement<unknown>
  readonly check: ((rows: readonly unknown[]) => void) | undefined
}

/**
 * A connection that keeps statements back whose answer is not needed, and sends them together with the next one. They
 * run in the order in which they were given.
 */
export class DeferringConnection<Tx> {
  readonly transaction: Tx
  readonly #connection: ServerTransaction<Tx>
  #deferred: Deferred[] = []
  /** Whether the host's code has had the connection. */
  wasLent = false

  constructor(connection: ServerTransaction<Tx>) {
    this.transaction = connection.transaction
    this.#connection = connection
  }

  /** Runs a statement, behind those that were kept back. Returns its rows. */
  async all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    if (this.#deferred.length === 0) return this.#connection.all(statement)

    const [rows] = await this.batch([statement])
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
    return (rows ?? []) as readonly Row[]
  }

  /** Runs statements, behind those that were kept back. Returns the rows of each. */
  batch(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    return this.#deferred.length === 0 ? this.#run(statements) : this.#runBehind(this.#deferred, statements)
  }

  async #runBehind(
    deferred: readonly Deferred[],
    statements: readonly Statement<unknown>[],
  ): Promise<readonly (readonly unknown[])[]> {
    this.#deferred = []
    const rows = await this.#run([...deferred.map(({ statement }) => statement), ...statements])
    for (const [index, { check }] of deferred.entries()) check?.(rows[index] ?? [])
    return rows.slice(deferred.length)
  }

  /**
   * Keeps a statement back until the next one is run.
   *
   * @param check - called with the rows; what it throws is the error of the next statement
   */
  defer<Row>(statement: Statement<Row>, check?: (rows: readonly Row[]) => void): void {
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the rows are those of the statement
    this.#deferred.push({ statement, check: check as Deferred['check'] })
  }

  /** Runs the statements that were kept back. */
  flush(): MaybePromise<void> {
    return this.#deferred.length === 0 ? undefined : this.batch([]).then(() => undefined)
  }

  /** Runs statements without settings, behind those that were kept back. */
  async run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    await this.flush()
    return this.#connection.run(statements)
  }

  /** Whether this statement is kept back, and so was not sent. */
  keepsBack(statement: Statement<unknown>): boolean {
    return this.#deferred.some((one) => one.statement === statement)
  }

  /** Forgets the statements that were kept back: the work has failed. */
  drop(): void {
    this.#deferred = []
  }

  /** Runs the host's code, which gets the connection. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    await this.flush()
    this.wasLent = true
    return this.#connection.lend(work)
  }

  /** A statement that grows with the data has a limit of its own, so it is sent alone. */
  #run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    const mayTakeLong = statements.some((statement) => statement.mayTakeLong === true)
    return mayTakeLong ? this.#runGroups(statements) : this.#connection.batch(statements)
  }

  async #runGroups(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    const rows: (readonly unknown[])[] = []
    for (const group of groups(statements)) rows.push(...(await this.#connection.batch(group)))
    return rows
  }
}

function groups(statements: readonly Statement<unknown>[]): readonly (readonly Statement<unknown>[])[] {
  const groups: Statement<unknown>[][] = []
  let open: Statement<unknown>[] | undefined
  for (const statement of statements) {
    if (open !== undefined && statement.mayTakeLong !== true) {
      open.push(statement)
      continue
    }
    const group = [statement]
    groups.push(group)
    open = statement.mayTakeLong === true ? undefined : group
  }
  return groups
}
