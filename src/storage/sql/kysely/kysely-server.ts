import type { SqlContext } from '../context.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Retry } from '../server/failures.ts'
import { poolBusy, unavailable } from '../server/failures.ts'
import { HostWarnings, LEFT_OPEN } from '../server/host-warnings.ts'
import type { Server, ServerConnection } from '../server/server.ts'
import type { Queryable } from '../session.ts'
import { DriverProbe } from './driver-probe.ts'
import type { ConnectionSettings, KyselyBackend } from './kysely-backend.ts'
import type { Running } from './kysely-connection.ts'
import { inside, KyselyConnection } from './kysely-connection.ts'
import type {
  BoundKysely,
  IsolationLevel,
  KyselyDatabase,
  KyselyExecutor,
  KyselyTransaction,
  KyselyTransactionBuilder,
} from './kysely-database.ts'
import { isKyselyTransaction } from './kysely-database.ts'
import { notGiven, translateKyselyError } from './kysely-errors.ts'
import { comesFromAnother, connectionOf, DriverConnections } from './kysely-insides.ts'
import { TransactionPhase } from './transaction-phase.ts'

/** A database behind a Kysely of the host. */
export class KyselyServer<Tx extends KyselyTransaction> implements Server<Tx> {
  readonly #database: KyselyDatabase<Tx>
  readonly #backend: KyselyBackend
  readonly #probe: DriverProbe
  readonly #hostWarnings = new HostWarnings()
  readonly #connections = new DriverConnections()

  constructor(database: KyselyDatabase<Tx>, backend: KyselyBackend, context: SqlContext) {
    this.#database = database
    this.#backend = backend
    this.#probe = new DriverProbe(context)
  }

  plainly<T>(work: (connection: Queryable) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#onConnection(deadline, (bound, { ending }) => work(this.#own(bound, deadline, ending?.commit)))
  }

  inSnapshot<T>(work: (connection: Queryable) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#begun(this.#backend.levels.snapshot, deadline, (transaction) => work(this.#own(transaction, deadline)))
  }

  inTransaction<T>(work: (connection: ServerConnection<Tx>) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#begun(this.#backend.levels.changes, deadline, async (transaction) => {
      const connection = await this.#backend.begin(this.#own(transaction, deadline), deadline)
      return work(inside(transaction, connection))
    })
  }

  joined(transaction: Tx, deadline: Deadline): ServerConnection<Tx> {
    if (!isKyselyTransaction(transaction)) {
      throw new TypeError('the transaction must be an open Transaction of Kysely: a Kysely itself is none')
    }
    if (comesFromAnother(this.#database, transaction)) {
      throw new TypeError('the transaction must be one of the Kysely that the storage was made with')
    }
    const failed = (error: unknown): void => this.#backend.failed?.(transaction, error)
    const prepare = this.#backend.prepares?.(undefined)
    return inside(transaction, this.#on(transaction, { retry: 'host-transaction', deadline, prepare, failed }))
  }

  /**
   * `withSchema`, `withPlugin` and similar calls return another object on the same connection. A transaction that has
   * ended has no connection.
   */
  async beneath(transaction: Tx): Promise<object> {
    const connection = await connectionOf(transaction).catch(() => undefined)
    return connection ?? transaction
  }

  async refuseUnlessOpen(connection: ServerConnection<Tx>, deadline: Deadline): Promise<void> {
    await this.#probe.refuseUnreadable(connection)
    await this.#backend.refuseUnlessOpen({
      transaction: connection.transaction,
      connection,
      beside: (work) => this.plainly(work, deadline),
    })
  }

  warnings(deadline: Deadline): Promise<readonly string[]> {
    return this.plainly((connection) => this.#backend.warnings(connection), deadline)
  }

  onWarning(listener: (message: string) => void): void {
    this.#hostWarnings.listen(listener)
  }

  async close(): Promise<void> {
    // The Kysely is the host's, and stays open.
  }

  /**
   * Runs work on a checked connection, which is destroyed if the call is interrupted. A connection that arrives later
   * is released unused.
   */
  async #onConnection<T>(
    deadline: Deadline,
    work: (bound: BoundKysely<Tx>, settings: ConnectionSettings) => Promise<T>,
  ): Promise<T> {
    let isGiven = false
    deadline.expireWith(poolBusy)
    const use = async (bound: BoundKysely<Tx>): Promise<T> => {
      isGiven = true
      deadline.expireWith(noAnswer)
      const stop = deadline.onInterrupt(await this.#connections.destroyer(bound, deadline))
      try {
        return await work(bound, await this.#look(bound, deadline))
      } finally {
        stop()
      }
    }
    try {
      return await this.#database.connection().execute(use)
    } catch (error) {
      throw isGiven ? error : this.#notGiven(error)
    }
  }

  /** Runs work in one of our own transactions. An error of the work is thrown, even if the ROLLBACK fails. */
  #begun<T>(level: IsolationLevel | undefined, deadline: Deadline, work: (transaction: Tx) => Promise<T>): Promise<T> {
    return this.#onConnection(deadline, async (bound) => {
      const phase = new TransactionPhase()
      try {
        return await atLevel(bound.transaction(), level).execute((transaction) =>
          phase.follow(async () => {
            const value = await work(transaction)
            deadline.startCommit()
            return value
          }),
        )
      } catch (error) {
        if (phase.point === 'begin') throw notGiven(this.#translate(error, 'call'))
        if (phase.point === 'work') throw this.#failed(phase.error, error)
        throw translateKyselyError(error) ?? this.#backend.translateCommit(error)
      }
    })
  }

  /** Kysely throws the error of the work, or else that of the ROLLBACK after it. */
  #failed(error: unknown, thrown: unknown): unknown {
    return this.#backend.translateWork(error, thrown === error ? 'done' : 'failed')
  }

  async #look(bound: KyselyExecutor, deadline: Deadline): Promise<ConnectionSettings> {
    const connection = this.#on(bound, { retry: 'call', deadline })
    await this.#probe.refuseUnreadable(connection)
    const settings = await this.#backend.look(connection, await connectionOf(bound))
    if (settings.leftOpen === true) this.#hostWarnings.report(LEFT_OPEN)
    return settings
  }

  #own(bound: KyselyExecutor, deadline: Deadline, commitEach?: Running['commitEach']): KyselyConnection {
    return this.#on(bound, { retry: 'call', deadline, prepare: this.#backend.prepares?.(deadline), commitEach })
  }

  #on(bound: KyselyExecutor, { retry, ...running }: Omit<Running, 'translate'> & { retry: Retry }): KyselyConnection {
    return new KyselyConnection(bound, { ...running, translate: (error) => this.#translate(error, retry) })
  }

  #translate(error: unknown, retry: Retry): unknown {
    return translateKyselyError(error) ?? this.#backend.translate(error, retry)
  }

  #notGiven(error: unknown): unknown {
    return notGiven(translateKyselyError(error) ?? this.#backend.translateConnect(error))
  }
}

function atLevel<Tx>(
  builder: KyselyTransactionBuilder<Tx>,
  level: IsolationLevel | undefined,
): KyselyTransactionBuilder<Tx> {
  return level === undefined ? builder : builder.setIsolationLevel(level)
}

function noAnswer(): Error {
  return unavailable('the database under Kysely did not answer within five seconds')
}
