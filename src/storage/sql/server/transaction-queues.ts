import type { MaybePromise } from '../../../schema/steps.ts'
import { isPromise } from '../../../schema/steps.ts'
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

  /**
   * Does something with the queue of this transaction: at once where there is one already, so that who calls while it is
   * lent meets it lent.
   * @throws TypeError when it is no object, and so no transaction
   */
  with<T>(transaction: Tx, work: (queue: TransactionQueue) => Promise<T>): Promise<T> {
    if (typeof transaction !== 'object' || transaction === null) {
      throw new TypeError("a join needs the host's open transaction, as its driver has it")
    }
    const known = this.#queues.get(transaction)
    if (known !== undefined) return work(known)

    const connection = this.#server.beneath?.(transaction) ?? transaction
    return isPromise(connection)
      ? connection.then((found) => work(this.#on(found, transaction)))
      : work(this.#on(connection, transaction))
  }

  #on(connection: object, transaction: Tx): TransactionQueue {
    const queue = this.#queues.get(connection) ?? new TransactionQueue()
    for (const object of [connection, transaction]) this.#queues.set(object, queue)
    return queue
  }
}
