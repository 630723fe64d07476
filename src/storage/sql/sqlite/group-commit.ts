import { isForgeError } from '../../../schema/errors.ts'
import type { Connections } from './connections.ts'
import type { SqliteHandle } from './handle.ts'
import type { Operation } from './operation.ts'
import { createOperation } from './operation.ts'
import { inTransaction, lostTransaction } from './transactions.ts'
import { pauseBefore } from './waiting.ts'

/** A batch closes at this many operations, or when its first has waited this many milliseconds for the turn to end. */
const MOST_OPERATIONS = 256
const LONGEST_TURN = 5

/**
 * Commits the changes of one turn of the event loop together, each in a savepoint of its own, and answers them, refusals
 * too, after the COMMIT: so durable writes cost less than one sync each. A batch runs from BEGIN to COMMIT at once.
 */
export class GroupCommit {
  readonly #connect: () => Connections<SqliteHandle>
  #waiting: Operation[] = []
  #opened = 0
  #state: 'idle' | 'collecting' | 'running' | 'held up' = 'idle'
  #refusals = 0

  /** @param connect - gives the connections, and opens them when needed */
  constructor(connect: () => Connections<SqliteHandle>) {
    this.#connect = connect
  }

  /** Whether a batch is running: what is called now is called from inside it. */
  get running(): boolean {
    return this.#state === 'running'
  }

  /** Takes work into the batch. It may run more than once, and is answered once: with a signal's reason when that aborts before. */
  submit<T>(work: () => T, signal: AbortSignal | undefined): Promise<T> {
    const { operation, answer } = createOperation(work, signal)
    this.#waiting.push(operation)
    if (this.#state === 'idle') this.#collect()
    else if (this.#state === 'collecting' && this.#isFull()) this.#flush()
    return answer
  }

  /** Settles when everything submitted so far is answered. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#waiting.map((operation) => operation.answered))
  }

  #collect(): void {
    this.#state = 'collecting'
    this.#opened = performance.now()
    setImmediate(() => {
      if (this.#state === 'collecting') this.#flush()
    })
  }

  #isFull(): boolean {
    return this.#waiting.length >= MOST_OPERATIONS || performance.now() - this.#opened >= LONGEST_TURN
  }

  #flush(): void {
    const aborted = this.#waiting.filter((operation) => operation.aborted)
    this.#settle(aborted, (operation) => operation.callOff())
    const batch = this.#waiting.slice(0, MOST_OPERATIONS)
    this.#state = 'running'
    try {
      if (batch.length > 0) this.#commit(batch)
      this.#refusals = 0
      this.#settle(batch, (operation) => operation.answer())
    } catch (error) {
      this.#fail(batch, error)
    }
    if (this.#state === 'running') this.#state = 'idle'
    if (this.#state === 'idle' && this.#waiting.length > 0) this.#collect()
  }

  #commit(batch: readonly Operation[]): void {
    inTransaction(this.#connect(), (writer) => {
      for (const operation of batch) {
        const left = operation.attempt(writer)
        if (left !== 'kept') throw lostTransaction(left, operation.failure)
      }
    })
  }

  /** Nothing of the batch is written: a busy database is waited for, anything else is everybody's answer. */
  #fail(batch: readonly Operation[], error: unknown): void {
    if (!isForgeError(error, 'STORAGE_BUSY')) {
      this.#settle(batch, (operation) => operation.reject(error))
      return
    }

    const now = performance.now()
    const impatient = this.#waiting.filter((operation) => operation.deadline <= now)
    this.#settle(impatient, (operation) => operation.reject(error))
    if (this.#waiting.length > 0) this.#holdUp()
  }

  #holdUp(): void {
    this.#refusals += 1
    this.#state = 'held up'
    setTimeout(() => this.#flush(), pauseBefore(this.#refusals))
  }

  #settle(operations: readonly Operation[], settle: (operation: Operation) => void): void {
    const settled = new Set(operations)
    this.#waiting = this.#waiting.filter((operation) => !settled.has(operation))
    for (const operation of operations) settle(operation)
  }
}
