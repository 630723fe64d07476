import { ForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { isPromise } from '../../../schema/sync-or-async.ts'
import type { DatabaseServer } from './database-server.ts'

/** How long one `beforeCommit` may keep other calls waiting, in milliseconds. */
const MAX_BEFORE_COMMIT_MS = 5000

/**
 * Runs the operations on one open transaction one after the other, because they share a connection and its savepoints
 * (of two concurrent changes on one connection, both were acknowledged and one row was lost). While the host's
 * `beforeCommit` has the transaction, its reads there do not wait for the operation that waits for it, and its changes
 * are refused. Other calls wait.
 */
export class TransactionQueue {
  readonly #callers: Callers
  readonly #waiting: WaitingCall[] = []
  #isBusy = false
  #lent = false

  constructor(callers: Callers) {
    this.#callers = callers
  }

  /** Runs a read in its turn. @throws ForgeError `STORAGE_BUSY` if another call's `beforeCommit` takes too long */
  read<T>(work: () => Promise<T>): Promise<T> {
    return this.#isCalledByBeforeCommit() ? work() : this.#inTurn(work)
  }

  /**
   * Runs a change in its turn.
   * @throws TypeError from inside another call's `beforeCommit`; ForgeError `STORAGE_BUSY` if that takes too long
   */
  write<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isCalledByBeforeCommit()) return this.#inTurn(work)

    return Promise.reject(new TypeError('beforeCommit must not change the forge: its change is still open'))
  }

  /** Runs the host's `beforeCommit`, in the middle of a change. */
  async lend<T>(work: () => MaybePromise<T>): Promise<T> {
    this.#lent = true
    const timer = setInterval(() => this.#refuseWaiting(), MAX_BEFORE_COMMIT_MS)
    try {
      return await this.#callers.runInside(this, work)
    } finally {
      clearInterval(timer)
      this.#lent = false
    }
  }

  /**
   * If the runtime cannot follow asynchronous calls, every caller is treated as the `beforeCommit`: one that waited for
   * itself would hang.
   */
  #isCalledByBeforeCommit(): boolean {
    return this.#lent && this.#callers.isInside(this) !== false
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await new Promise<void>((begin, refuse) => this.#waiting.push({ begin, refuse }))
    this.#isBusy = true
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#isBusy = false
      else next.begin()
    }
  }

  /** Ends what cannot end by itself: a `beforeCommit` that indirectly waits for a call that waits for it. */
  #refuseWaiting(): void {
    const message = 'another beforeCommit has kept the transaction for five seconds: it must not wait for this call'
    for (const { refuse } of this.#waiting.splice(0)) {
      refuse(new ForgeError('STORAGE_BUSY', message, { retry: 'host-transaction' }))
    }
  }
}

/** A call that waits for its turn. */
interface WaitingCall {
  readonly begin: () => void
  readonly refuse: (error: Error) => void
}

/** The part of Node's `AsyncLocalStorage` that is used. */
export interface AsyncContext<Value> {
  run<T>(value: Value, work: () => T): T
  getStore(): Value | undefined
  disable(): void
}

/** One run of a `beforeCommit`. Its asynchronous context may outlive it. */
export interface Loan {
  readonly queue: TransactionQueue
  /** The run in which this one was called. */
  readonly outer: Loan | undefined
  isOver: boolean
}

/** Distinguishes the calls that a `beforeCommit` makes from all others, if the runtime follows asynchronous calls. */
class Callers {
  readonly #open: () => AsyncContext<Loan> | undefined
  #context: AsyncContext<Loan> | undefined
  #loans = 0

  constructor(open: () => AsyncContext<Loan> | undefined) {
    this.#open = open
  }

  /** Runs a `beforeCommit` that has this queue. */
  async runInside<T>(queue: TransactionQueue, work: () => MaybePromise<T>): Promise<T> {
    this.#context ??= this.#open()
    if (this.#context === undefined) return work()

    const loan: Loan = { queue, outer: current(this.#context), isOver: false }
    this.#loans += 1
    try {
      return await this.#context.run(loan, work)
    } finally {
      loan.isOver = true
      this.#loans -= 1
      if (this.#loans === 0) rest(this.#context)
    }
  }

  /** Returns whether a `beforeCommit` that has this queue makes this call; undefined if the runtime does not know. */
  isInside(queue: TransactionQueue): boolean | undefined {
    if (this.#context === undefined) return undefined

    let loan = current(this.#context)
    while (loan !== undefined && (loan.isOver || loan.queue !== queue)) loan = loan.outer
    return loan !== undefined
  }
}

/**
 * Returns the innermost run that is not over. Runs that are over are skipped; otherwise a chain of them would grow
 * forever.
 */
function current(context: AsyncContext<Loan>): Loan | undefined {
  let loan = context.getStore()
  while (loan?.isOver === true) loan = loan.outer
  return loan
}

/**
 * Ends following calls until the next run. Before Node 24, every context that is in use slows every promise of the
 * process, and is never collected.
 */
function rest(context: AsyncContext<Loan>): void {
  try {
    context.disable()
  } catch {
    // Some runtimes have not implemented it. Their contexts cost nothing.
  }
}

/**
 * Works on Node 20.16 and newer, and on compatible runtimes. Not imported, because other runtimes have no such module.
 */
function openAsyncContext(): AsyncContext<Loan> | undefined {
  const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')
  return hooks && new hooks.AsyncLocalStorage<Loan>()
}

/** The queue of each open transaction, including our own, by the connection beneath. */
export class TransactionQueues<Tx extends object> {
  readonly #server: Pick<DatabaseServer<Tx>, 'beneath'>
  readonly #queues = new WeakMap<object, TransactionQueue>()
  readonly #callers: Callers

  /** @param openContext - creates a context that follows asynchronous calls; undefined if the runtime cannot */
  constructor(
    server: Pick<DatabaseServer<Tx>, 'beneath'>,
    openContext: () => AsyncContext<Loan> | undefined = openAsyncContext,
  ) {
    this.#server = server
    this.#callers = new Callers(openContext)
  }

  /**
   * Runs work with the queue of this transaction. If the queue already exists, the work runs synchronously, so that a
   * call made while the queue is lent finds it lent.
   * @throws TypeError if it is not an object, and so not a transaction
   */
  with<T>(transaction: Tx, work: (queue: TransactionQueue) => Promise<T>): Promise<T> {
    if (typeof transaction !== 'object' || transaction === null) {
      throw new TypeError("withTransaction needs the host's open transaction, as its driver has it")
    }
    const known = this.#queues.get(transaction)
    if (known !== undefined) return work(known)

    const connection = this.#server.beneath(transaction)
    return isPromise(connection)
      ? connection.then((found) => work(this.#on(found, transaction)))
      : work(this.#on(connection, transaction))
  }

  #on(connection: object, transaction: Tx): TransactionQueue {
    const queue = this.#queues.get(connection) ?? new TransactionQueue(this.#callers)
    for (const object of [connection, transaction]) this.#queues.set(object, queue)
    return queue
  }
}
