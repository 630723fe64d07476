import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runAsync } from '../../../schema/sync-or-async.ts'
import type { SqlDialect } from '../dialect.ts'
import type { Session, SqlRuntime, WriteCircumstances } from '../session.ts'
import type { CallDeadline, CallLimits } from './call-deadline.ts'
import { MAX_CALL_MS } from './call-deadline.ts'
import { HostTransactions, notAnswered } from './host-transactions.ts'
import { retry } from './retry.ts'
import { guarded } from './savepoint.ts'
import type { Server, ServerConnection } from './server.ts'
import type { ServerDatabase } from './server-database.ts'
import type { Writing } from './sessions.ts'
import { readingSession, writingSession } from './sessions.ts'
import type { TransactionQueue } from './transaction-queues.ts'
import { TransactionQueues } from './transaction-queues.ts'

/** What a runtime is built from. */
export interface ServerRuntimeParts<Tx extends object> {
  readonly server: Server<Tx>
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
  readonly #server: Server<Tx>
  readonly #database: ServerDatabase<Tx>
  readonly #lockingRead: SqlDialect['lockingRead']
  readonly #queues: TransactionQueues<Tx>
  readonly #joins: HostTransactions<Tx>

  constructor({ server, database, dialect, queues = new TransactionQueues(server) }: ServerRuntimeParts<Tx>) {
    this.#server = server
    this.#database = database
    this.#lockingRead = dialect.lockingRead
    this.#queues = queues
    this.#joins = new HostTransactions({ server, database, queues })
  }

  /** Same as the storage's `checkTransaction`. */
  checkTransaction(transaction: Tx): Promise<void> {
    return this.#joined((deadline) => this.#joins.checkTransaction(transaction, deadline))
  }

  read<T>(work: (session: Session) => SyncOrAsync<T>, transaction: Tx | undefined): Promise<T> {
    if (transaction !== undefined) return this.#readJoined(work, transaction)
    return this.#readPlain((deadline) =>
      this.#server.plainly((connection) => runAsync(work(readingSession(connection))), deadline),
    )
  }

  readSnapshot<T>(work: (session: Session) => SyncOrAsync<T>, transaction: Tx | undefined): Promise<T> {
    if (transaction !== undefined) return this.#readJoined(work, transaction)
    return this.#readPlain((deadline) =>
      this.#server.inSnapshot((connection) => runAsync(work(readingSession(connection))), deadline),
    )
  }

  readOutside<T>(work: (session: Session) => SyncOrAsync<T>): Promise<T> {
    return this.read(work, undefined)
  }

  write<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    { transaction, signal, spentMilliseconds = 0 }: WriteCircumstances<Tx>,
  ): Promise<T> {
    const limits = { signal, total: MAX_CALL_MS - spentMilliseconds }
    if (transaction === undefined) return this.#writePlain(work, limits)

    const change = (connection: ServerConnection<Tx>, queue: TransactionQueue): Promise<T> =>
      this.#run(work, connection, (call) => queue.lend(call))
    return this.#joined((deadline) => this.#joins.write(transaction, change, deadline), limits)
  }

  #readJoined<T>(work: (session: Session) => SyncOrAsync<T>, transaction: Tx): Promise<T> {
    return this.#joined((deadline) =>
      this.#joins.read(transaction, (connection) => runAsync(work(readingSession(connection))), deadline),
    )
  }

  /** A call in a host's transaction that runs out of time requires the whole transaction to be run again. */
  #joined<T>(call: (deadline: CallDeadline) => Promise<T>, limits: CallLimits = {}): Promise<T> {
    return this.#database.during(call, { ...limits, expired: notAnswered })
  }

  #readPlain<T>(attempt: (deadline: CallDeadline) => Promise<T>): Promise<T> {
    return this.#database.during((deadline) =>
      retry(deadline, async () => {
        await this.#database.refuseUnusable(deadline)
        return attempt(deadline)
      }),
    )
  }

  #writePlain<T>(work: (session: Session, transaction: Tx) => SyncOrAsync<T>, limits: CallLimits): Promise<T> {
    return this.#database.during(
      (deadline) =>
        retry(deadline, async () => {
          await this.#database.refuseUnusable(deadline)
          return this.#server.inTransaction((connection) => this.#attempt(work, connection), deadline)
        }),
      limits,
    )
  }

  #attempt<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    connection: ServerConnection<Tx>,
  ): Promise<T> {
    return this.#queues.with(connection.transaction, (queue) =>
      queue.write(() => this.#run(work, connection, (call) => guarded(connection, () => queue.lend(call)))),
    )
  }

  #run<T>(
    work: (session: Session, transaction: Tx) => SyncOrAsync<T>,
    connection: ServerConnection<Tx>,
    lend: Writing['lend'],
  ): Promise<T> {
    const session = writingSession(connection, { lockingRead: this.#lockingRead, lend })
    return runAsync(work(session, connection.transaction))
  }
}
