import { AsyncLocalStorage } from 'node:async_hooks'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'

/** One run of the host's code in the middle of a change. Its asynchronous context may outlive it. */
interface Loan {
  readonly queue: TransactionQueue
  /** The run in which this one was called. */
  readonly outer: Loan | undefined
  isOver: boolean
}

/**
 * Runs the calls on one transaction one after the other, because they share its savepoints. Calls that the host's code
 * makes in the middle of a change do not wait for that change: reads run, changes are refused.
 */
export class TransactionQueue {
  readonly #loans: Loans
  #last: Promise<unknown> = Promise.resolve()

  constructor(loans: Loans) {
    this.#loans = loans
  }

  /** Runs a read in its turn. */
  read<T>(work: () => Promise<T>): Promise<T> {
    return this.#loans.isInside(this) ? work() : this.#inTurn(work)
  }

  /** Runs a change in its turn. @throws TypeError in the middle of another change */
  write<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#loans.isInside(this)) return this.#inTurn(work)
    return Promise.reject(new TypeError('beforeCommit must not change the forge: its change is still open'))
  }

  /** Runs the host's code in the middle of a change. */
  lend<T>(work: () => MaybePromise<T>): Promise<T> {
    return this.#loans.run(this, work)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}

/** The queue of each open transaction, by the connection beneath. */
export class TransactionQueues {
  readonly #queues = new WeakMap<object, TransactionQueue>()
  readonly #loans = new Loans()

  /** Returns the queue of a transaction. */
  of(connection: object): TransactionQueue {
    const known = this.#queues.get(connection)
    if (known !== undefined) return known
    const queue = new TransactionQueue(this.#loans)
    this.#queues.set(connection, queue)
    return queue
  }
}

/** Tells the calls that the host's code makes in the middle of a change from all others. */
class Loans {
  readonly #context = new AsyncLocalStorage<Loan>()
  #count = 0

  async run<T>(queue: TransactionQueue, work: () => MaybePromise<T>): Promise<T> {
    const loan: Loan = { queue, outer: this.#innermost(), isOver: false }
    this.#count += 1
    try {
      return await this.#context.run(loan, async () => work())
    } finally {
      loan.isOver = true
      this.#count -= 1
      if (this.#count === 0) this.#context.disable() // before Node 24 a context in use slows every promise of the process
    }
  }

  isInside(queue: TransactionQueue): boolean {
    if (this.#count === 0) return false
    let loan = this.#innermost()
    while (loan !== undefined && (loan.isOver || loan.queue !== queue)) loan = loan.outer
    return loan !== undefined
  }

  /** Those that are over are skipped, or a chain of them would grow forever. */
  #innermost(): Loan | undefined {
    let loan = this.#context.getStore()
    while (loan?.isOver === true) loan = loan.outer
    return loan
  }
}
