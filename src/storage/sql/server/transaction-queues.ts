import type { MaybePromise } from '../../../schema/steps.ts'
import type { Server } from './server.ts'

/**
 * What is done on one open transaction: one operation after the other, since they share a connection and its savepoints
 * (two at once on one connection: both answered, one row gone). While the host's `beforeCommit` has the transaction, what
 * it reads there does not wait for the operation that waits for it, and what it would change is refused.
 */
export class TransactionQueue {
  #last: Promise<unknown> = Promise.resolve()
  #lent = false

  /** Runs a read in its turn. */
  read<T>(work: () => Promise<T>): Promise<T> {
    return this.#lent ? work() : this.#add(work)
  }

  /** Runs a change in its turn. @throws TypeError from inside another's `beforeCommit` */
  async write<T>(work: () => Promise<T>): Promise<T> {
    if (this.#lent) throw new TypeError('beforeCommit must not change the forge: its change is still open')
    return this.#add(work)
  }

  /** Runs the host's `beforeCommit`, in the middle of a change. */
  async lend<T>(work: () => MaybePromise<T>): Promise<T> {
    this.#lent = true
    try {
      return await work()
    } finally {
      this.#lent = false
    }
  }

  #add<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}

/** The queue of each open transaction, our own too: by the connection beneath. */
export class TransactionQueues<Tx extends object> {
  readonly #server: Pick<Server<Tx>, 'beneath'>
  readonly #queues = new WeakMap<object, TransactionQueue>()

  constructor(server: Pick<Server<Tx>, 'beneath'>) {
    this.#server = server
  }

  /** The queue of this transaction. @throws TypeError when it is no object, and so none */
  async of(transaction: Tx): Promise<TransactionQueue> {
    if (typeof transaction !== 'object' || transaction === null) {
      throw new TypeError("a join needs the host's open transaction, as its driver has it")
    }
    const connection = (await this.#server.beneath?.(transaction)) ?? transaction
    const queue = this.#queues.get(connection) ?? new TransactionQueue()
    this.#queues.set(connection, queue)
    return queue
  }
}
