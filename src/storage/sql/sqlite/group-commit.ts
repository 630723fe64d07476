import { isForgeError } from '../../../schema/errors.ts'
import type { Connection } from './connection.ts'
import type { Operation } from './operation.ts'
import { createOperation } from './operation.ts'
import { lostTransaction, rollback } from './transactions.ts'
import { pauseBefore } from './waiting.ts'

/** A batch closes at this many operations, or when it has run this many milliseconds. */
const MOST_OPERATIONS = 256
const LONGEST_RUN = 5

/**
 * Commits the changes of one turn of the event loop together, each in a savepoint of its own, and answers them, refusals
 * too, after the COMMIT: so durable writes cost less than one sync each. A batch runs from BEGIN to COMMIT in one turn.
 */
export class GroupCommit {
  readonly #writer: () => Connection
  #waiting: Operation[] = []
  #scheduled = false
  #running = false
  #refusals = 0

  /** @param writer - gives the connection to write on, and opens it when needed */
  constructor(writer: () => Connection) {
    this.#writer = writer
  }

  /** Whether a batch is running: what is called now is called from inside it. */
  get running(): boolean {
    return this.#running
  }

  /** Takes work into the next batch. It may run more than once, and is answered once. */
  submit<T>(work: () => T): Promise<T> {
    const { operation, answer } = createOperation(work)
    this.#waiting.push(operation)
    this.#scheduleNow()
    return answer
  }

  /** Settles when everything submitted so far is answered. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#waiting.map((operation) => operation.answered))
  }

  #flush(): void {
    const batch = this.#waiting.slice(0, MOST_OPERATIONS)
    this.#scheduled = false
    this.#running = true
    try {
      this.#settle(this.#commit(batch))
    } catch (error) {
      this.#fail(batch, error)
    } finally {
      this.#running = false
    }
    this.#scheduleNow()
  }

  /** Gives the operations that are committed: all, or those that ran before time was up. */
  #commit(batch: readonly Operation[]): readonly Operation[] {
    const writer = this.#writer()
    writer.command('begin immediate')
    const end = performance.now() + LONGEST_RUN
    const done: Operation[] = []
    for (const operation of batch) {
      if (operation.attempt(writer) === 'lost') throw lostTransaction(operation.failure)
      done.push(operation)
      if (performance.now() >= end) break
    }
    commitOrRollBack(writer)
    return done
  }

  #settle(done: readonly Operation[]): void {
    this.#refusals = 0
    this.#waiting = this.#waiting.slice(done.length)
    for (const operation of done) operation.answer()
  }

  /** Nothing of the batch is written: a busy database is waited for, anything else is everybody's answer. */
  #fail(batch: readonly Operation[], error: unknown): void {
    if (isForgeError(error, 'STORAGE_BUSY')) this.#waitOn(error)
    else this.#reject(batch, error)
  }

  #waitOn(error: unknown): void {
    const now = performance.now()
    const impatient = this.#waiting.filter((operation) => operation.deadline <= now)
    this.#reject(impatient, error)
    this.#refusals += 1
    if (this.#waiting.length > 0) this.#scheduleIn(pauseBefore(this.#refusals))
  }

  #reject(refused: readonly Operation[], error: unknown): void {
    this.#waiting = this.#waiting.filter((operation) => !refused.includes(operation))
    for (const operation of refused) operation.reject(error)
  }

  #scheduleNow(): void {
    if (this.#scheduled || this.#waiting.length === 0) return

    this.#scheduled = true
    setImmediate(() => this.#flush())
  }

  #scheduleIn(milliseconds: number): void {
    this.#scheduled = true
    setTimeout(() => this.#flush(), milliseconds)
  }
}

/** A COMMIT that fails may leave the transaction open. */
function commitOrRollBack(writer: Connection): void {
  try {
    writer.command('commit')
  } catch (error) {
    rollback(writer)
    throw error
  }
}
