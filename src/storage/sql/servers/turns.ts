import { AsyncLocalStorage } from 'node:async_hooks'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'

/** One run of the host's code in the middle of a change. Its asynchronous context may outlive it. */
interface HostRun {
  readonly transaction: object
  /** The run in which this one was called. */
  readonly outer: HostRun | undefined
  isOver: boolean
}

/**
 * Runs the calls on one transaction one after the other, because they share its savepoints. Calls that the host's code
 * makes in the middle of a change do not wait for that change: reads run, changes are refused.
 */
export class Turns {
  readonly #last = new WeakMap<object, Promise<unknown>>()
  readonly #context = new AsyncLocalStorage<HostRun>()
  #hostRuns = 0

  /** Runs a call in its turn. @throws TypeError for a change in the middle of another */
  run<T>(kind: 'read' | 'write', transaction: object, work: () => Promise<T>): Promise<T> {
    if (!this.#isHostCodeRunning(transaction)) return this.#inTurn(transaction, work)
    if (kind === 'read') return work()
    return Promise.reject(new TypeError('beforeCommit must not change the forge: its change is still open'))
  }

  /** Runs the host's code in the middle of a change. */
  async runHostCode<T>(transaction: object, work: () => MaybePromise<T>): Promise<T> {
    const run: HostRun = { transaction, outer: this.#innermost(), isOver: false }
    this.#hostRuns += 1
    try {
      return await this.#context.run(run, async () => work())
    } finally {
      run.isOver = true
      this.#hostRuns -= 1
      if (this.#hostRuns === 0) this.#context.disable() // before Node 24 a context in use slows every promise of the process
    }
  }

  #inTurn<T>(transaction: object, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(transaction) ?? Promise.resolve()).then(work)
    const isEnded = turn.catch(() => undefined)
    this.#last.set(transaction, isEnded)
    return turn
  }

  #isHostCodeRunning(transaction: object): boolean {
    if (this.#hostRuns === 0) return false
    let run = this.#innermost()
    while (run !== undefined && (run.isOver || run.transaction !== transaction)) run = run.outer
    return run !== undefined
  }

  /** Those that are over are skipped, or a chain of them would grow forever. */
  #innermost(): HostRun | undefined {
    let run = this.#context.getStore()
    while (run?.isOver === true) run = run.outer
    return run
  }
}
