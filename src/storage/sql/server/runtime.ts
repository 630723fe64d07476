import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runAsync, runMaybeAsync } from '../../../schema/sync-or-async.ts'
import type { ForgeStorage } from '../../contract/storage.ts'
import type { SqlContext } from '../context.ts'
import type { SqlDialect } from '../dialect.ts'
import type { Statement } from '../query.ts'
import { retryAfter } from '../retry.ts'
import { Schema } from '../schema/schema.ts'
import type { Session, SqlRuntime, WriteCircumstances } from '../session.ts'
import { createSqlStores } from '../stores/stores.ts'
import type { CallDeadline, CallLimits } from './call-deadline.ts'
import type { ServerConnection, ServerTransaction } from './connection.ts'
import { ServerDatabase } from './database.ts'
import type { DatabaseServerParts } from './database-server.ts'
import { DatabaseServer } from './database-server.ts'
import { DeferringConnection } from './deferring-connection.ts'
import { HostTransactions, notAnswered } from './host-transactions.ts'
import type { TransactionQueue } from './transaction-queues.ts'
import { TransactionQueues } from './transaction-queues.ts'

/** What a runtime is built from. */
export interface ServerRuntimeParts<Tx extends object> {
  readonly server: DatabaseServer<Tx>
  readonly database: ServerDatabase<Tx>
  readonly dialect: SqlDialect
  /** New queues if omitted. */
  readonly queues?: TransactionQueues<Tx> | undefined
}

/**
 * Runs the work of the stores on a server: on our own connections, with retries after a definite abort; or on the
 * connection of a host's transaction.
 */
export class ServerRuntime<Tx extends object> implements SqlRuntime<Tx> {
  readonly seesUncommitted = false
  readonly #server: DatabaseServer<Tx>
  readonly #database: ServerDatabase<Tx>
  readonly #lockingRead: SqlDialect['lockingRead']
  readonly #queues: TransactionQueues<Tx>
  readonly #hostTransactions: HostTransactions<Tx>

  constructor({ server, database, dialect, queues = new TransactionQueues(server) }: ServerRuntimeParts<Tx>) {
    this.#server = server
    this.#database = database
    this.#lockingRead = dialect.lockingRead
    this.#queues = queues
    this.#hostTransactions = new HostTransactions({ server, database, queues })
  }

  /** Same as the storage's `checkTransaction`. */
  checkTransaction(transaction: Tx): Promise<void> {
    return this.#inHostTransaction((deadline) => this.#hostTransactions.checkTransaction(transaction, deadline))
  }

  read<T>(work: (session: Session) => MaybePromise<T>, transaction: Tx | undefined): Promise<T> {
    if (transaction !== undefined) return this.#readInHostTransaction(work, transaction)
    return this.#repeated((deadline) =>
      this.#server.plainly((connection) => work(new ReadingSession(connection)), deadline),
    )
  }

  readSnapshot<T>(work: (session: Session) => SyncOrAsync<T>, transaction: Tx | undefined): Promise<T> {
    if (transaction !== undefined)
      return this.#readInHostTransaction((session) => runMaybeAsync(work(session)), transaction)
    return this.#repeated((deadline) =>
      this.#server.inSnapshot((connection) => runAsync(work(new ReadingSession(connection))), deadline),
    )
  }

  write<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    { transaction, signal }: WriteCircumstances<Tx>,
  ): Promise<T> {
    if (transaction === undefined) return this.#writePlain(work, { signal })

    const change = (connection: DeferringConnection<Tx>, queue: TransactionQueue): Promise<T> =>
      this.#run(work, connection, queue)
    return this.#inHostTransaction((deadline) => this.#hostTransactions.write(transaction, change, deadline), {
      signal,
    })
  }

  #readInHostTransaction<T>(work: (session: Session) => MaybePromise<T>, transaction: Tx): Promise<T> {
    return this.#inHostTransaction((deadline) =>
      this.#hostTransactions.read(transaction, async (connection) => work(new ReadingSession(connection)), deadline),
    )
  }

  /** A call in a host's transaction that runs out of time requires the whole transaction to be run again. */
  #inHostTransaction<T>(call: (deadline: CallDeadline) => Promise<T>, limits: CallLimits = {}): Promise<T> {
    return this.#database.during(call, { ...limits, expired: notAnswered })
  }

  #writePlain<T>(work: (session: Session, transaction: Tx) => SyncOrAsync<T>, limits: CallLimits): Promise<T> {
    return this.#repeated(
      (deadline) => this.#server.inTransaction((transaction) => this.#attempt(work, transaction), deadline),
      limits,
    )
  }

  /** Makes an attempt on our own connections, and repeats it after a definite abort. */
  #repeated<T>(attempt: (deadline: CallDeadline) => Promise<T>, limits?: CallLimits): Promise<T> {
    return this.#database.during((deadline) => {
      const checkedAttempt = (): Promise<T> => this.#database.whenUsable(deadline, attempt)
      return checkedAttempt().catch((error) => retryAfter(error, checkedAttempt, deadline.retries))
    }, limits)
  }

  #attempt<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    connection: ServerTransaction<Tx>,
  ): Promise<T> {
    const deferring = new DeferringConnection(connection)
    return this.#queues.with(connection.transaction, (queue) => queue.write(() => this.#run(work, deferring, queue)))
  }

  async #run<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    connection: DeferringConnection<Tx>,
    queue: TransactionQueue,
  ): Promise<T> {
    const session = new WritingSession(connection, queue, this.#lockingRead)
    const value = await runMaybeAsync(work(session, connection.transaction))
    await connection.flush()
    return value
  }
}

/** A session that reads. It never runs the host's code in the middle of its work. */
class ReadingSession implements Session {
  readonly #connection: ServerConnection

  constructor(connection: ServerConnection) {
    this.#connection = connection
  }

  all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    return this.#connection.all(statement)
  }

  first<Row>(statement: Statement<Row>): Promise<Row | undefined> {
    return this.#connection.all(statement).then((rows) => rows[0])
  }

  batch(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    return this.#connection.batch(statements)
  }

  async defer<Row>(statement: Statement<Row>, check?: (rows: readonly Row[]) => void): Promise<void> {
    const rows = await this.#connection.all(statement)
    check?.(rows)
  }

  lend<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return work()
  }
}

/** A session that writes. It reads what is committed now, even if the transaction began to read before. */
class WritingSession<Tx> implements Session {
  readonly #connection: DeferringConnection<Tx>
  readonly #queue: TransactionQueue
  readonly #lockingRead: SqlDialect['lockingRead']

  /** @param lockingRead - the end of a select that runs after a lock */
  constructor(connection: DeferringConnection<Tx>, queue: TransactionQueue, lockingRead: SqlDialect['lockingRead']) {
    this.#connection = connection
    this.#queue = queue
    this.#lockingRead = lockingRead
  }

  all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    return this.#connection.all(locking(statement, this.#lockingRead))
  }

  first<Row>(statement: Statement<Row>): Promise<Row | undefined> {
    return this.all(statement).then((rows) => rows[0])
  }

  batch(statements: readonly Statement<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    return this.#connection.batch(statements.map((statement) => locking(statement, this.#lockingRead)))
  }

  defer<Row>(statement: Statement<Row>, check?: (rows: readonly Row[]) => void): void {
    this.#connection.defer(locking(statement, this.#lockingRead), check)
  }

  lend<T>(work: () => MaybePromise<T>): Promise<T> {
    return this.#connection.lend(() => this.#queue.lend(work))
  }
}

function locking<Row>(statement: Statement<Row>, lockingRead: string): Statement<Row> {
  if (lockingRead === '') return statement
  const { sql, asWritten } = statement
  return asWritten !== true && /^select\b/.test(sql) ? { ...statement, sql: `${sql}${lockingRead}` } : statement
}

/** A storage on a database server, and what it runs on: a host can keep its tables beside those of the storage. */
export interface ServerStorage<Tx extends object> {
  readonly storage: ForgeStorage<Tx>
  readonly context: SqlContext
  readonly server: DatabaseServer<Tx>
  readonly database: ServerDatabase<Tx>
  readonly runtime: ServerRuntime<Tx>
}

/** Creates a storage on a database server. Nothing is opened before its first use. */
export function createServerStorage<Tx extends object>(
  parts: DatabaseServerParts<Tx>,
  context: SqlContext,
): ServerStorage<Tx> {
  const server = new DatabaseServer(parts)
  const database = new ServerDatabase(server, new Schema(context))
  const runtime = new ServerRuntime({ server, database, dialect: context.dialect })

  const storage: ForgeStorage<Tx> = {
    ...createSqlStores(context, runtime),
    transactions: 'asynchronous',
    checkTransaction: (transaction) => runtime.checkTransaction(transaction),
    migrate: () => database.during((deadline) => database.migrate(deadline), { total: Number.POSITIVE_INFINITY }),
    schemaStatus: () => database.during((deadline) => database.status(deadline)),
    onWarning: (listener) => server.onWarning(listener),
    close: () => database.close(),
  }
  return { storage, context, server, database, runtime }
}
