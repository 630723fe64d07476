import { ForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { isPromise } from '../../../schema/sync-or-async.ts'
import type { Server } from './server.ts'

/** How long one `beforeCommit` may keep other calls waiting, in milliseconds. */
export const MAX_BEFORE_COMMIT_MS = 5000

/**
 * What is done on one open transaction: one operation after the other, since they share a connection and its savepoints
 * (two at once on one connection: both answered, one row gone). While the host's `beforeCommit` has the transaction, what
 * it reads there does not wait for the operation that waits for it, and what it would change is refused. Others wait.
 */
export class TransactionQueue {
  readonly #callers: Callers
  readonly #waiting = new Set<WaitingCall>()
  #last: Promise<unknown> = Promise.resolve()
  #lent = false

  constructor(callers: Callers) {
    this.#callers = callers
  }

  /** Runs a read in its turn. @throws ForgeError `STORAGE_BUSY` when another's `beforeCommit` takes too long */
  async read<T>(work: () => Promise<T>): Promise<T> {
    return this.#isCalledByBeforeCommit() ? work() : this.#add(work)
  }

  /**
   * Runs a change in its turn.
   * @throws TypeError from inside another's `beforeCommit`; ForgeError `STORAGE_BUSY` when that takes too long
   */
  async write<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isCalledByBeforeCommit()) {
      throw new TypeError('beforeCommit must not change the forge: its change is still open')
    }
    return this.#add(work)
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

  /** Where the runtime cannot do so, every caller is taken for the `beforeCommit`: if that waited for itself, it would hang. */
  #isCalledByBeforeCommit(): boolean {
    return this.#lent && this.#callers.isInside(this) !== false
  }

  #add<T>(work: () => Promise<T>): Promise<T> {
    const call = new WaitingCall()
    this.#waiting.add(call)
    const turn = this.#last.then(() => {
      this.#waiting.delete(call)
      return call.isRefused ? call.refusal : work()
    })
    this.#last = turn.catch(() => undefined)
    return Promise.race([turn, call.refusal])
  }

  /** Ends what cannot end by itself: a `beforeCommit` that waits, in a roundabout way, for a call that waits for it. */
  #refuseWaiting(): void {
    const message = 'another beforeCommit has kept the transaction for five seconds: it must not wait for this call'
    for (const call of this.#waiting) {
      call.refuse(new ForgeError('STORAGE_BUSY', message, { retry: 'host-transaction' }))
    }
    this.#waiting.clear()
  }
}

/** A call that can be refused until its turn has come. */
class WaitingCall {
  readonly refusal: Promise<never>
  isRefused = false
  #reject: (error: Error) => void = () => undefined

  constructor() {
    this.refusal = new Promise((_, reject) => {
      this.#reject = reject
    })
  }

  refuse(error: Error): void {
    this.isRefused = true
    this.#reject(error)
  }
}

/** The part of Node's `AsyncLocalStorage` that is used. */
export interface AsyncContext<Value> {
  run<T>(value: Value, work: () => T): T
  getStore(): Value | undefined
}

/** One run of a `beforeCommit`. Its asynchronous context may outlive it. */
export interface Loan {
  readonly queue: TransactionQueue
  /** The run in which this one was called. */
  readonly outer: Loan | undefined
  isOver: boolean
}

/** Distinguishes the calls that a `beforeCommit` makes from all others, where the runtime follows asynchronous calls. */
class Callers {
  readonly #open: () => AsyncContext<Loan> | undefined
  #context: AsyncContext<Loan> | undefined

  constructor(open: () => AsyncContext<Loan> | undefined) {
    this.#open = open
  }

  /** Runs a `beforeCommit` that has this queue. */
  async runInside<T>(queue: TransactionQueue, work: () => MaybePromise<T>): Promise<T> {
    this.#context ??= this.#open() // not before it is needed: on older Nodes it slows down every promise
    if (this.#context === undefined) return work()

    const loan: Loan = { queue, outer: current(this.#context), isOver: false }
    try {
      return await this.#context.run(loan, work)
    } finally {
      loan.isOver = true
    }
  }

  /** Whether this is called by a `beforeCommit` that has this queue; undefined = the runtime does not know. */
  isInside(queue: TransactionQueue): boolean | undefined {
    if (this.#context === undefined) return undefined

    let loan = current(this.#context)
    while (loan !== undefined && (loan.isOver || loan.queue !== queue)) loan = loan.outer
    return loan !== undefined
  }
}

/** The innermost run that is not over: those that are over are forgotten, or a chain of them would grow for ever. */
function current(context: AsyncContext<Loan>): Loan | undefined {
  let loan = context.getStore()
  while (loan?.isOver === true) loan = loan.outer
  return loan
}

/** Node 20.16 and newer, and runtimes that do as Node does. Not imported: others have no such module. */
function openAsyncContext(): AsyncContext<Loan> | undefined {
  const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')
  return hooks && new hooks.AsyncLocalStorage<Loan>()
}

/** The queue of each open transaction, our own too: by the connection beneath. */
export class TransactionQueues<Tx extends object> {
  readonly #server: Pick<Server<Tx>, 'beneath'>
  readonly #queues = new WeakMap<object, TransactionQueue>()
  readonly #callers: Callers

  /** @param openContext - makes what follows asynchronous calls; nothing where the runtime cannot */
  constructor(
    server: Pick<Server<Tx>, 'beneath'>,
    openContext: () => AsyncContext<Loan> | undefined = openAsyncContext,
  ) {
    this.#server = server
    this.#callers = new Callers(openContext)
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
    const queue = this.#queues.get(connection) ?? new TransactionQueue(this.#callers)
    for (const object of [connection, transaction]) this.#queues.set(object, queue)
    return queue
  }
}
