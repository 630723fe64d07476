import { ForgeError } from '../../../schema/errors.ts'
import { BrokenReference, busy } from '../errors.ts'
import type { Deadline } from './call-deadline.ts'
import type { ServerConnection, ServerTransaction } from './connection.ts'
import type { ServerDatabase } from './database.ts'
import type { DatabaseServer } from './database-server.ts'
import { DeferringConnection } from './deferring-connection.ts'
import { hasSavepoint, inSavepoint, takeBack, takeBackSoFar } from './savepoint.ts'
import type { TransactionQueue, TransactionQueues } from './transaction-queues.ts'

/** What host transactions are built from. */
export interface HostTransactionParts<Tx extends object> {
  readonly server: DatabaseServer<Tx>
  readonly database: ServerDatabase<Tx>
  readonly queues: TransactionQueues<Tx>
}

/**
 * The host's own transactions, in which the storage reads and writes: no BEGIN, no COMMIT, one savepoint for each
 * change.
 */
export class HostTransactions<Tx extends object> {
  readonly #server: DatabaseServer<Tx>
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
    work: (connection: ServerTransaction<Tx>) => Promise<T>,
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
    work: (connection: DeferringConnection<Tx>, queue: TransactionQueue) => Promise<T>,
    deadline: Deadline,
  ): Promise<T> {
    return this.#on(transaction, deadline, (queue, connection) =>
      queue.write(async () => {
        const call = new InterruptibleCall(this.#server, connection)
        const run = async (): Promise<T> => {
          await this.#refuseUnfit(connection, deadline)
          return decided(() => call.inSavepoint((lending) => work(lending, queue), deadline))
        }
        return this.#answered(queue, deadline, run, () => call.isLending)
      }),
    )
  }

  #on<T>(
    transaction: Tx,
    deadline: Deadline,
    work: (queue: TransactionQueue, connection: ServerTransaction<Tx>) => Promise<T>,
  ): Promise<T> {
    return this.#queues.with(transaction, (queue) => {
      if (this.#unanswered.has(queue)) throw notAnswered()
      return work(queue, this.#server.hostTransaction(transaction, deadline))
    })
  }

  /**
   * The host's connection is never destroyed. Nothing more is sent on it until the earlier statement is answered. Calls
   * that come while a `beforeCommit` outlives its call wait for their turn instead, as they do for any `beforeCommit`.
   */
  async #answered<T>(
    queue: TransactionQueue,
    deadline: Deadline,
    work: () => Promise<T>,
    isLending = (): boolean => false,
  ): Promise<T> {
    const stop = deadline.onInterrupt(() => {
      if (!isLending()) this.#unanswered.add(queue)
    })
    try {
      return await work()
    } finally {
      stop()
      if (deadline.isOver) this.#unanswered.delete(queue)
    }
  }

  async #refuseUnfit(connection: ServerTransaction<Tx>, deadline: Deadline): Promise<void> {
    await this.#server.refuseUnlessOpen(connection, deadline)
    await this.#database.refuseUnusableOn(connection)
  }
}

/**
 * A change in a host's transaction, which an aborting signal or the deadline may end at any moment. If it is
 * interrupted, the rollback to the savepoint is sent immediately, ahead of a COMMIT that the host may send next. A
 * `beforeCommit` that is running then goes on, and what it does later is rolled back too, as soon as it has ended. Until
 * then the change keeps its turn.
 */
class InterruptibleCall<Tx extends object> {
  readonly #server: DatabaseServer<Tx>
  readonly #connection: ServerTransaction<Tx>
  #isOutlived = false
  isLending = false

  constructor(server: DatabaseServer<Tx>, connection: ServerTransaction<Tx>) {
    this.#server = server
    this.#connection = connection
  }

  /** Runs the change, all or nothing. */
  async inSavepoint<T>(work: (connection: DeferringConnection<Tx>) => Promise<T>, deadline: Deadline): Promise<T> {
    const connection = this.#server.guarded(this.#connection)
    const deferring = new DeferringConnection({ ...connection, lend: (hostCode) => this.#lend(hostCode) })
    let stop = (): void => undefined
    const change = async (): Promise<T> => {
      stop = deadline.onInterrupt(() => {
        if (hasSavepoint(deferring)) void this.#takeBackNow()
      })
      try {
        return await work(deferring)
      } catch (error) {
        stop() // inSavepoint rolls back from here on
        throw error
      }
    }
    try {
      return await inSavepoint(deferring, change, () => this.#ending)
    } finally {
      stop()
    }
  }

  async #lend<T>(hostCode: () => Promise<T>): Promise<T> {
    this.isLending = true
    try {
      return await this.#connection.lend(hostCode)
    } finally {
      this.isLending = false
    }
  }

  #takeBackNow(): Promise<void> {
    this.#isOutlived = this.isLending
    return this.isLending ? takeBackSoFar(this.#unlimited) : takeBack(this.#unlimited)
  }

  /** The connection of an interrupted call runs nothing more. */
  get #ending(): ServerConnection {
    return this.#isOutlived ? this.#unlimited : this.#connection
  }

  get #unlimited(): ServerConnection {
    return this.#server.ended(this.#connection.transaction)
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
