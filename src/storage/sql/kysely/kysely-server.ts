import type { Retry } from '../server/failures.ts'
import type { Server, ServerConnection } from '../server/server.ts'
import { whenGiven } from '../server/when-given.ts'
import type { Asking } from '../session.ts'
import type { SqlContext } from '../sql-context.ts'
import { Course } from './course.ts'
import type { Running } from './kysely-connection.ts'
import { inside, KyselyConnection } from './kysely-connection.ts'
import type {
  IsolationLevel,
  KyselyDatabase,
  KyselyExecutor,
  KyselyTransaction,
  KyselyTransactionBuilder,
} from './kysely-database.ts'
import { isKyselyTransaction } from './kysely-database.ts'
import { notGiven, translateKyselyError } from './kysely-errors.ts'
import { comesFromAnother, connectionOf } from './kysely-insides.ts'
import type { Habits, Manner } from './manner.ts'
import { Sample } from './sample.ts'

/** How long plain statements and reads wait for a table that is being changed, in milliseconds. */
const TABLE_WAIT = 4000

/** A database behind a Kysely of the host's. */
export class KyselyServer<Tx extends KyselyTransaction> implements Server<Tx> {
  readonly #database: KyselyDatabase<Tx>
  readonly #manner: Manner
  readonly #sample: Sample

  constructor(database: KyselyDatabase<Tx>, manner: Manner, context: SqlContext) {
    this.#database = database
    this.#manner = manner
    this.#sample = new Sample(context)
  }

  async plainly<T>(work: (connection: Asking) => Promise<T>): Promise<T> {
    const give = (use: (bound: KyselyExecutor) => Promise<T>): Promise<T> => this.#database.connection().execute(use)
    let isGiven = false
    try {
      return await whenGiven(give, async (bound) => {
        isGiven = true
        const { ending } = await this.#look(bound)
        const connection = this.#own(bound, TABLE_WAIT, ending?.commit)
        if (ending !== undefined) await connection.all(ending.rollBack) // what somebody left open is not ours to commit
        return work(connection)
      })
    } catch (error) {
      throw isGiven ? error : this.#notGiven(error)
    }
  }

  inSnapshot<T>(work: (connection: Asking) => Promise<T>): Promise<T> {
    return this.#begun(this.#manner.levels.snapshot, async (transaction) => {
      await this.#look(transaction)
      return work(this.#own(transaction, TABLE_WAIT))
    })
  }

  inTransaction<T>(work: (connection: ServerConnection<Tx>) => Promise<T>, lockWait: number): Promise<T> {
    return this.#begun(this.#manner.levels.changes, async (transaction) => {
      await this.#look(transaction)
      const connection = this.#own(transaction, lockWait)
      await this.#manner.begin(connection, lockWait)
      return work(inside(transaction, connection))
    })
  }

  joined(transaction: Tx): ServerConnection<Tx> {
    if (!isKyselyTransaction(transaction)) {
      throw new TypeError('the transaction must be an open Transaction of Kysely: a Kysely itself is none')
    }
    if (comesFromAnother(this.#database, transaction)) {
      throw new TypeError('the transaction must be one of the Kysely that the storage was made with')
    }
    const failed = (error: unknown): void => this.#manner.failed?.(transaction, error)
    const prepare = this.#manner.prepares?.(undefined)
    return inside(transaction, this.#on(transaction, { retry: 'host-transaction', prepare, failed }))
  }

  /** `withSchema`, `withPlugin` and the like give another object on the same connection. One that has ended has none. */
  async beneath(transaction: Tx): Promise<object> {
    const connection = await connectionOf(transaction).catch(() => undefined)
    return connection ?? transaction
  }

  async refuseUnlessOpen(connection: ServerConnection<Tx>): Promise<void> {
    await this.#sample.refuseUnreadable(connection)
    await this.#manner.refuseUnlessOpen({
      transaction: connection.transaction,
      connection,
      beside: (work) => this.plainly(work),
    })
  }

  warnings(): Promise<readonly string[]> {
    return this.plainly((connection) => this.#manner.warnings(connection))
  }

  async close(): Promise<void> {
    // the Kysely is the host's, and stays open
  }

  /** Runs work in a transaction of our own: what that throws is thrown, whatever became of the ROLLBACK. */
  async #begun<T>(level: IsolationLevel | undefined, work: (transaction: Tx) => Promise<T>): Promise<T> {
    const course = new Course()
    try {
      return await whenGiven(
        (use) => atLevel(this.#database.transaction(), level).execute(use),
        (transaction: Tx) => course.follow(() => work(transaction)),
      )
    } catch (error) {
      if (course.point === 'begin') throw this.#notGiven(error)
      if (course.point === 'work') throw this.#failed(course.error, error)
      throw translateKyselyError(error) ?? this.#manner.translateCommit(error)
    }
  }

  /** Kysely throws what the work threw, or else what the ROLLBACK after that did. */
  #failed(error: unknown, thrown: unknown): unknown {
    return this.#manner.translateWork(error, thrown === error ? 'done' : 'failed')
  }

  async #look(bound: KyselyExecutor): Promise<Habits> {
    const connection = this.#on(bound, { retry: 'call' })
    await this.#sample.refuseUnreadable(connection)
    return this.#manner.look(connection, await connectionOf(bound))
  }

  #own(bound: KyselyExecutor, wait: number, commitEach?: Running['commitEach']): KyselyConnection {
    return this.#on(bound, { retry: 'call', prepare: this.#manner.prepares?.(wait), commitEach })
  }

  #on(bound: KyselyExecutor, { retry, ...running }: Omit<Running, 'translate'> & { retry: Retry }): KyselyConnection {
    return new KyselyConnection(bound, { ...running, translate: (error) => this.#translate(error, retry) })
  }

  #translate(error: unknown, retry: Retry): unknown {
    return translateKyselyError(error) ?? this.#manner.translate(error, retry)
  }

  #notGiven(error: unknown): unknown {
    return notGiven(this.#translate(error, 'call'))
  }
}

function atLevel<Tx>(
  builder: KyselyTransactionBuilder<Tx>,
  level: IsolationLevel | undefined,
): KyselyTransactionBuilder<Tx> {
  return level === undefined ? builder : builder.setIsolationLevel(level)
}
