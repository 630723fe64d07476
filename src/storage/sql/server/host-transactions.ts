import { ForgeError } from '../../../schema/errors.ts'
import type { Deadline } from './call-deadline.ts'
import { NO_DEADLINE } from './call-deadline.ts'
import { BrokenReference, busy } from './failures.ts'
import { inSavepoint, takeBack } from './savepoint.ts'
import type { Server, ServerConnection } from './server.ts'
import type { ServerDatabase } from './server-database.ts'
import type { TransactionQueue, TransactionQueues } from './transaction-queues.ts'

/** What host transactions are built from. */
export interface HostTransactionParts<Tx extends object> {
  readonly server: Server<Tx>
  readonly database: ServerDatabase<Tx>
  readonly queues: TransactionQueues<Tx>
}

/**
 * The host's own transactions, in which the storage reads and writes: no BEGIN, no COMMIT, one savepoint for each
 * change.
 */
export class HostTransactions<Tx extends object> {
  readonly #server: Server<Tx>
  readonly #database: ServerDatabase<Tx>
  readonly #queues: TransactionQueues<Tx>
  /** The transactions in which a statement of an interrupted call still waits for its answer. */
  readonly #unanswered = new WeakSet<TransactionQueue>()

  constructor({ server, database, queues }: HostTransactionParts<Tx>) {
    this.#server = server
    this.#database = database
    this.#queues = queues
  }

  /** Same as the storage's `checkTransaction`. */
  async checkTransaction(transaction: Tx, deadline: Deadline): Promise<void> {
    await this.#on(transaction, deadline, (queue, connection) =>
      queue.read(() => this.#answered(queue, deadline, () => this.#refuseUnfit(connection, deadline))),
    )
  }

  /** Reads in the host's transaction, in its turn. */
  async read<T>(
    transaction: Tx,
    work: (connection: ServerConnection<Tx>) => Promise<T>,
    deadline: Deadline,
  ): Promise<T> {
    return this.#on(transaction, deadline, (queue, connection) =>
      queue.read(() =>
        this.#answered(queue, deadline, async () => {
          await this.#database.refuseUnusableOn(connection)
          return work(connection)
        }),
      ),
    )
  }

  /**
   * Changes something in the host's transaction, in its turn, all or nothing. A definite abort is never retried here:
   * what the host did before is rolled back, or would be.
   */
  async write<T>(
    transaction: Tx,
    work: (connection: ServerConnection<Tx>, queue: TransactionQueue) => Promise<T>,
    deadline: Deadline,
  ): Promise<T> {
    return this.#on(transaction, deadline, (queue, connection) =>
      queue.write(() =>
        this.#answered(queue, deadline, async () => {
          await this.#refuseUnfit(connection, deadline)
          return decided(() => this.#inSavepoint(connection, deadline, () => work(connection, queue)))
        }),
      ),
    )
  }

  #on<T>(
    transaction: Tx,
    deadline: Deadline,
    work: (queue: TransactionQueue, connection: ServerConnection<Tx>) => Promise<T>,
  ): Promise<T> {
    return this.#queues.with(transaction, (queue) => {
      if (this.#unanswered.has(queue)) throw notAnswered()
      return work(queue, this.#server.joined(transaction, deadline))
    })
  }

  /** The host's connection is never destroyed. Nothing more is sent on it until the earlier statement is answered. */
  async #answered<T>(queue: TransactionQueue, deadline: Deadline, work: () => Promise<T>): Promise<T> {
    const stop = deadline.onInterrupt(() => this.#unanswered.add(queue))
    try {
      return await work()
    } finally {
      stop()
      if (deadline.isOver) this.#unanswered.delete(queue)
    }
  }

  /**
   * If the call is interrupted, the rollback to the savepoint is sent immediately, ahead of a COMMIT that the host may
   * send next.
   */
  async #inSavepoint<T>(connection: ServerConnection<Tx>, deadline: Deadline, work: () => Promise<T>): Promise<T> {
    let stop = (): void => undefined
    try {
      return await inSavepoint(connection, () => {
        stop = deadline.onInterrupt(() => void takeBack(this.#server.joined(connection.transaction, NO_DEADLINE)))
        return work()
      })
    } finally {
      stop()
    }
  }

  async #refuseUnfit(connection: ServerConnection<Tx>, deadline: Deadline): Promise<void> {
    await this.#server.refuseUnlessOpen(connection, deadline)
    await this.#database.refuseUnusableOn(connection)
  }
}

/** Creates the error for a call in a host's transaction that has run out of time. */
export function notAnswered(): ForgeError<'STORAGE_BUSY'> {
  const message = 'the database did not answer within five seconds: roll the transaction back'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'host-transaction' })
}

/** Decides once more if a row that was referred to has just been removed: the second attempt sees that. */
async function decided<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof BrokenReference)) throw error
  }

  try {
    return await attempt()
  } catch (error) {
    throw error instanceof BrokenReference ? busy('host-transaction', error) : error
  }
}
