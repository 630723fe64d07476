import { AsyncLocalStorage } from 'node:async_hooks'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'

/** One run of the host's code in the middle of a change. Its asynchronous context may outlive it. */
interface Loan {
  readonly transaction: object
  /** The run in which this one was called. */
  readonly outer: Loan | undefined
  isOver: boolean
}

/**
 * Runs the calls on one transaction one after the other, because they share its savepoints. Calls that the host's code
 * makes in the middle of a change do not wait for that change: reads run, changes are refused.
 */
export class Turns {
  readonly #last = new WeakMap<object, Promise<unknown>>()
  readonly #context = new AsyncLocalStorage<Loan>()
  #loans = 0

  /** Runs a call in its turn. @throws TypeError for a change in the middle of another */
  run<T>(kind: 'read' | 'write', transaction: object, work: () => Promise<T>): Promise<T> {
    if (!this.#isLent(transaction)) return this.#inTurn(transaction, work)
    if (kind === 'read') return work()
    return Promise.reject(new TypeError('beforeCommit must not change the forge: its change is still open'))
  }

  /** Runs the host's code in the middle of a change. */
  async lend<T>(transaction: object, work: () => MaybePromise<T>): Promise<T> {
    const loan: Loan = { transaction, outer: this.#innermost(), isOver: false }
    this.#loans += 1
    try {
      return await this.#context.run(loan, async () => work())
    } finally {
      loan.isOver = true
      this.#loans -= 1
      if (this.#loans === 0) this.#context.disable() // before Node 24 a context in use slows every promise of the process
    }
  }

  #inTurn<T>(transaction: object, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(transaction) ?? Promise.resolve()).then(work)
    const isEnded = turn.catch(() => undefined)
    this.#last.set(transaction, isEnded)
    return turn
  }

  #isLent(transaction: object): boolean {
    if (this.#loans === 0) return false
    let loan = this.#innermost()
    while (loan !== undefined && (loan.isOver || loan.transaction !== transaction)) loan = loan.outer
    return loan !== undefined
  }

  /** Those that are over are skipped, or a chain of them would grow forever. */
  #innermost(): Loan | undefined {
    let loan = this.#context.getStore()
    while (loan?.isOver === true) loan = loan.outer
    return loan
  }
}
