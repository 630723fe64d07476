import { closedError } from '../../../schema/errors.ts'
import type { SqlContext } from '../context.ts'
import { unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import { plainRows } from '../query.ts'
import type { DatabaseClient, IsolationLevel, LibraryConnection, LibraryTransaction } from '../server/client.ts'
import type { ServerConnection, StatementRunner } from '../server/connection.ts'
import type { BoundKysely, KyselyDatabase, KyselyExecutor, KyselyQuery, KyselyTransaction } from './kysely-database.ts'
import { isKyselyTransaction } from './kysely-database.ts'
import { comesFromAnother, connectionOf, DriverConnections } from './kysely-insides.ts'
import { DriverProbe } from './kysely-probe.ts'

/** A Kysely of the host. It hides the pool and the driver beneath. */
export class KyselyDatabaseClient<Tx extends KyselyTransaction> implements DatabaseClient<Tx> {
  readonly isHosts = true
  readonly reportsRollback = false
  readonly #database: KyselyDatabase<Tx>
  readonly #probe: DriverProbe
  readonly #connections = new DriverConnections()

  constructor(database: KyselyDatabase<Tx>, context: SqlContext) {
    this.#database = database
    this.#probe = new DriverProbe(context)
  }

  async connect(queued: () => void): Promise<LibraryConnection<Tx>> {
    queued() // Kysely does not report whether it waits for its pool, or its pool for the server
    const held = await hold<BoundKysely<Tx>>((use) => this.#database.connection().execute(use))
    try {
      const identity = await connectionOf(held.value)
      return new HeldConnection(held, identity, this.#connections.destroyer(identity))
    } catch (error) {
      await held.end()
      throw error
    }
  }

  hostRunner(transaction: Tx): StatementRunner & { readonly identity: object } {
    if (!isKyselyTransaction(transaction)) {
      throw new TypeError('the transaction must be an open Transaction of Kysely, not a Kysely')
    }
    if (comesFromAnother(this.#database, transaction)) {
      throw new TypeError('the transaction must come from the Kysely of the storage')
    }
    return { identity: transaction, maxTogether: 1, run: (statements) => run(transaction, statements) }
  }

  /**
   * `withSchema`, `withPlugin` and similar calls return another object on the same connection. A transaction that has
   * ended has no connection.
   */
  async beneath(transaction: Tx): Promise<object> {
    const connection = await connectionOf(transaction).catch(() => undefined)
    return connection ?? transaction
  }

  refuseUnreadable(connection: ServerConnection): Promise<void> {
    return this.#probe.refuseUnreadable(connection)
  }

  /**
   * Returns the error to throw for an error of Kysely itself: TypeError for a transaction that has ended,
   * `STORAGE_UNAVAILABLE` for a Kysely that was destroyed.
   */
  translate(error: unknown): unknown {
    if (!(error instanceof Error)) return undefined
    if (ENDED.test(error.message)) return new TypeError('the transaction has ended', { cause: error })
    if (DESTROYED.test(error.message)) return closedError('the Kysely of the storage was destroyed', error)
    return DISCARDED.test(error.message) ? unavailable('the Kysely of the storage was destroyed', error) : undefined
  }

  async close(): Promise<void> {
    // The Kysely is the host's, and stays open.
  }
}

/** The message of Kysely for a transaction that is used after its end. Versions before 0.28 have none. */
const ENDED = /^Transaction is already (committed|rolled back)$/

/** The message of Kysely after it was destroyed. */
const DESTROYED = /^driver has already been destroyed$/

/** The message of Kysely for a connection that can no longer be used. */
const DISCARDED = /^\w+ connection has been discarded$/

/** A connection that Kysely lends until it is released. */
class HeldConnection<Tx extends KyselyTransaction> implements LibraryConnection<Tx> {
  readonly transactions = 'by the library'
  readonly status = undefined
  readonly maxTogether = 1
  readonly identity: object | undefined
  readonly #held: Held<BoundKysely<Tx>>
  readonly #destroyer: Promise<() => void>
  #transaction: HeldTransaction<Tx> | undefined

  /** @param destroyer - what destroys the connection. It may be found only when the driver has sent a query */
  constructor(held: Held<BoundKysely<Tx>>, identity: object | undefined, destroyer: Promise<() => void>) {
    this.#held = held
    this.identity = identity
    this.#destroyer = destroyer
    destroyer.catch(ignore) // awaited only if the connection is destroyed
  }

  run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    return run(this.#held.value, statements)
  }

  lend<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  async begin(level: IsolationLevel | undefined): Promise<LibraryTransaction<Tx>> {
    const builder = this.#held.value.transaction()
    const leveled = level === undefined ? builder : builder.setIsolationLevel(level)
    this.#transaction = new HeldTransaction(await hold<Tx>((use) => leveled.execute(use)))
    return this.#transaction
  }

  destroy(): void {
    this.#destroyer.then((destroy) => destroy()).catch(ignore)
  }

  /** A transaction that is still open is rolled back. Kysely decides itself what becomes of a broken connection. */
  release(): Promise<void> {
    const ended = this.#transaction?.rollBack() ?? Promise.resolve()
    return ended
      .catch(ignore)
      .then(() => this.#held.end())
      .catch(ignore)
  }
}

/** A transaction that Kysely ends on request, and not with a callback. */
class HeldTransaction<Tx extends KyselyTransaction> implements LibraryTransaction<Tx> {
  readonly transaction: Tx
  readonly identity: Tx
  readonly maxTogether = 1
  readonly #held: Held<Tx>

  constructor(held: Held<Tx>) {
    this.#held = held
    this.transaction = held.value
    this.identity = held.value
  }

  run(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    return run(this.transaction, statements)
  }

  commit(): Promise<void> {
    return this.#held.end()
  }

  /** Kysely rethrows the error that made it roll back, unless the ROLLBACK fails. */
  async rollBack(): Promise<void> {
    const reason = new Error('rolled back')
    try {
      await this.#held.fail(reason)
    } catch (error) {
      if (error !== reason) throw error
    }
  }
}

/** A value that is lent to a callback, until the callback returns. */
interface Held<T> {
  readonly value: T
  /** Returns from the callback. Resolves when its lender has finished. */
  end(): Promise<void>
  /** Throws from the callback. Rejects with the error of its lender. */
  fail(error: Error): Promise<void>
}

/** Holds what is lent to a callback. @throws what the lender throws before it calls the callback */
function hold<T>(lend: (use: (value: T) => Promise<void>) => Promise<void>): Promise<Held<T>> {
  return new Promise((resolve, reject) => {
    const finished = lend(
      (value) =>
        new Promise<void>((end, fail) => {
          resolve({
            value,
            end() {
              end()
              return finished
            },
            fail(error) {
              fail(error)
              return finished
            },
          })
        }),
    )
    finished.catch(reject)
  })
}

async function run(
  bound: KyselyExecutor,
  statements: readonly Statement<unknown>[],
): Promise<readonly (readonly unknown[])[]> {
  const executor = bound.withoutPlugins()
  const answers: (readonly unknown[])[] = []
  for (const { sql, parameters, returnsRows } of statements) {
    const { rows } = await executor.executeQuery(asCompiled(sql, parameters))
    answers.push(returnsRows ? plainRows(rows) : [])
  }
  return answers
}

function asCompiled(sql: string, parameters: KyselyQuery['parameters']): KyselyQuery {
  return {
    sql,
    parameters,
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: 'forgelet' },
  }
}

function ignore(): void {}
