import { ForgeError } from '../../../schema/errors.ts'
import type { Deadline } from './call-deadline.ts'
import { NO_DEADLINE } from './call-deadline.ts'
import { BrokenReference, busy } from './failures.ts'
import { inSavepoint, takeBack } from './savepoint.ts'
import type { Server, ServerConnection } from './server.ts'
import type { ServerDatabase } from './server-database.ts'
import type { TransactionQueue, TransactionQueues } from './transaction-queues.ts'

/** What joins are made of. */
export interface HostTransactionParts<Tx extends object> {
  readonly server: Server<Tx>
  readonly database: ServerDatabase<Tx>
  readonly queues: TransactionQueues<Tx>
}

/** The host's own transactions, which we read and write in: no BEGIN, no COMMIT, a savepoint for each change. */
export class HostTransactions<Tx extends object> {
  readonly #server: Server<Tx>
  readonly #database: ServerDatabase<Tx>
  readonly #queues: TransactionQueues<Tx>
  /** Those in which a statement of an interrupted call still waits for its answer. */
  readonly #unanswered = new WeakSet<TransactionQueue>()

  constructor({ server, database, queues }: HostTransactionParts<Tx>) {
    this.#server = server
    this.#database = database
    this.#queues = queues
  }

  /** As the storage's `enter`. */
  async enter(transaction: Tx, deadline: Deadline): Promise<void> {
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
   * Changes something in the host's transaction, in its turn, all or nothing. A definite abort is never tried again here:
   * what the host did before is gone, or would be.
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

  /** The host's connection is never destroyed: until what was sent on it is answered, nothing more is. */
  async #answered<T>(queue: TransactionQueue, deadline: Deadline, work: () => Promise<T>): Promise<T> {
    const stop = deadline.onInterrupt(() => this.#unanswered.add(queue))
    try {
      return await work()
    } finally {
      stop()
      if (deadline.isOver) this.#unanswered.delete(queue)
    }
  }

  /** What is taken back when the call is interrupted is sent at once, in front of a COMMIT that the host may send next. */
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

/** The error for a call in a host's transaction that has run out of time. */
export function notAnswered(): ForgeError<'STORAGE_BUSY'> {
  const message = 'the database did not answer within five seconds: roll the transaction back'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'host-transaction' })
}

/** Decides once more when what a row referred to has just gone: the second time that is seen. */
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
