import { BrokenReference, busy } from './failures.ts'
import { inSavepoint } from './savepoint.ts'
import type { Server, ServerConnection } from './server.ts'
import type { ServerDatabase } from './server-database.ts'
import type { TransactionQueue, TransactionQueues } from './transaction-queues.ts'

/** What joins are made of. */
export interface JoinsParts<Tx extends object> {
  readonly server: Server<Tx>
  readonly database: ServerDatabase<Tx>
  readonly queues: TransactionQueues<Tx>
}

/** The host's own transactions, which we read and write in: no BEGIN, no COMMIT, a savepoint for each change. */
export class HostTransactions<Tx extends object> {
  readonly #server: Server<Tx>
  readonly #database: ServerDatabase<Tx>
  readonly #queues: TransactionQueues<Tx>

  constructor({ server, database, queues }: JoinsParts<Tx>) {
    this.#server = server
    this.#database = database
    this.#queues = queues
  }

  /** As the storage's `enter`. */
  async enter(transaction: Tx): Promise<void> {
    await this.#queues.with(transaction, (queue) => {
      const connection = this.#server.joined(transaction)
      return queue.read(() => this.#refuseUnfit(connection))
    })
  }

  /** Reads in the host's transaction, in its turn. */
  async read<T>(transaction: Tx, work: (connection: ServerConnection<Tx>) => Promise<T>): Promise<T> {
    return this.#queues.with(transaction, (queue) => {
      const connection = this.#server.joined(transaction)
      return queue.read(async () => {
        await this.#database.refuseUnusableOn(connection)
        return work(connection)
      })
    })
  }

  /**
   * Changes something in the host's transaction, in its turn, all or nothing. A definite abort is never tried again here:
   * what the host did before is gone, or would be.
   *
   * @throws the reason of a signal that has aborted
   */
  async write<T>(
    transaction: Tx,
    work: (connection: ServerConnection<Tx>, queue: TransactionQueue) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    return this.#queues.with(transaction, (queue) => {
      const connection = this.#server.joined(transaction)
      return queue.write(async () => {
        signal?.throwIfAborted()
        await this.#refuseUnfit(connection)
        return decided(() => inSavepoint(connection, () => work(connection, queue)))
      })
    })
  }

  async #refuseUnfit(connection: ServerConnection<Tx>): Promise<void> {
    await this.#server.refuseUnlessOpen(connection)
    await this.#database.refuseUnusableOn(connection)
  }
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
