import { isForgeError } from '../../../schema/errors.ts'
import { MAX_WAIT_MS, pauseBefore } from '../retry.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import type { SqliteHandle } from './handle.ts'
import type { Ending, Left } from './transactions.ts'
import { inSavepoint, inTransaction, lostTransaction } from './transactions.ts'

/** A batch closes at this many operations, or when its first operation has waited this many milliseconds. */
const MAX_OPERATIONS = 256
const MAX_COLLECTING_MS = 5

/**
 * A batch that has run for this many milliseconds is committed, because it stops the event loop. Operations that it has not
 * reached wait for the next. The clock is read after every 16 operations.
 */
const MAX_RUN_MS = 10
const OPERATIONS_PER_LOOK = 16

/**
 * Commits changes together, each in its own savepoint, and answers them, refusals too, after the COMMIT. Durable writes
 * then cost less than one sync each. A batch collects as long as each turn of the event loop brings another change:
 * Node accepts one new connection in a turn, and a commit stops the loop, so batches of one turn would stay batches of
 * one change. A batch runs from BEGIN to COMMIT synchronously.
 */
export class GroupCommit {
  readonly #connect: () => Connections<SqliteHandle>
  #waiting: Operation[] = []
  #opened = 0
  #turn: NodeJS.Immediate | undefined
  #state: 'idle' | 'collecting' | 'running' | 'held up' = 'idle'
  #refusals = 0

  /** @param connect - returns the connections, and opens them if needed */
  constructor(connect: () => Connections<SqliteHandle>) {
    this.#connect = connect
  }

  /** Whether a batch is running: a call made now comes from inside it. */
  get running(): boolean {
    return this.#state === 'running'
  }

  /**
   * Adds work to the batch. The work may run more than once, and is answered once: with the reason of the signal if
   * that aborts before.
   */
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
    this.#awaitTurn(0)
  }

  /** @param known - how many operations were waiting one turn ago */
  #awaitTurn(known: number): void {
    this.#turn = setImmediate(() => {
      const count = this.#waiting.length
      if (count > known && !this.#isFull()) this.#awaitTurn(count)
      else this.#flush()
    })
  }

  #isFull(): boolean {
    return this.#waiting.length >= MAX_OPERATIONS || performance.now() - this.#opened >= MAX_COLLECTING_MS
  }

  #flush(): void {
    clearImmediate(this.#turn)
    const aborted = this.#waiting.filter((operation) => operation.aborted)
    this.#settle(aborted, (operation) => operation.callOff())
    const batch = this.#waiting.slice(0, MAX_OPERATIONS)
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

  /** Removes from the batch what it has no time for. */
  #commit(batch: Operation[]): void {
    inTransaction(this.#connect(), (writer) => {
      const end = performance.now() + MAX_RUN_MS
      for (const [index, operation] of batch.entries()) {
        const left = operation.attempt(writer)
        if (left !== 'kept') throw lostTransaction(left, operation.failure)
        const count = index + 1
        if (count % OPERATIONS_PER_LOOK === 0 && performance.now() >= end) batch.length = count
      }
    })
  }

  /**
   * Nothing of the batch is written. If the database is busy, the batch waits; any other error is the answer of every
   * operation.
   */
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

/** One change that waits for its batch. */
export interface Operation {
  /** When it stops waiting for a busy database. */
  readonly deadline: number
  /** Settles with its answer. */
  readonly answered: Promise<unknown>
  /** The error of its last attempt. */
  readonly failure: unknown
  /** Whether its signal aborted while it waited. */
  readonly aborted: boolean
  /** Runs the work inside the open transaction, unless it is aborted. Returns what that left of the transaction. */
  attempt(connection: Connection): Left
  /** Settles with the result of its last attempt, after the commit. */
  answer(): void
  /** Settles with the reason of its signal. */
  callOff(): void
  /** Settles with the failure of the whole batch, or with its own failure if that caused it. */
  reject(error: unknown): void
}

/** Creates an operation from work that a signal may abort. */
function createOperation<T>(
  work: () => T,
  signal: AbortSignal | undefined,
): { readonly operation: Operation; readonly answer: Promise<T> } {
  let settle: Settle<T> = { resolve: ignore, reject: ignore }
  const answer = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { operation: new PendingOperation({ work, signal, answered: answer, settle }), answer }
}

interface Settle<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

interface PendingParts<T> {
  readonly work: () => T
  readonly signal: AbortSignal | undefined
  readonly answered: Promise<unknown>
  readonly settle: Settle<T>
}

class PendingOperation<T> implements Operation {
  readonly deadline: number = performance.now() + MAX_WAIT_MS
  readonly answered: Promise<unknown>
  readonly #work: () => T
  readonly #signal: AbortSignal | undefined
  readonly #settle: Settle<T>
  #ending: Ending<T> | undefined

  constructor({ work, signal, answered, settle }: PendingParts<T>) {
    this.answered = answered
    this.#work = work
    this.#signal = signal
    this.#settle = settle
  }

  get failure(): unknown {
    return this.#ending?.ok === false ? this.#ending.error : undefined
  }

  get aborted(): boolean {
    return this.#signal?.aborted === true
  }

  attempt(connection: Connection): Left {
    this.#ending = this.aborted
      ? { ok: false, error: this.#signal?.reason, left: 'kept' }
      : inSavepoint(connection, this.#work)
    return this.#ending.ok ? 'kept' : this.#ending.left
  }

  answer(): void {
    if (this.#ending?.ok === true) this.#settle.resolve(this.#ending.value)
    else this.#settle.reject(this.failure)
  }

  callOff(): void {
    this.#settle.reject(this.#signal?.reason)
  }

  reject(error: unknown): void {
    const itsOwn = this.#ending?.ok === false && this.#ending.left !== 'kept'
    this.#settle.reject(itsOwn ? this.failure : error)
  }
}

function ignore(): void {}
