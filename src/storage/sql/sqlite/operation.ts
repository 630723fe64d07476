import type { Connection } from './connection.ts'
import type { Ending, Left } from './transactions.ts'
import { inSavepoint } from './transactions.ts'
import { PATIENCE } from './waiting.ts'

/** One change that waits for its batch. */
export interface Operation {
  /** When it stops waiting for a busy database. */
  readonly deadline: number
  /** Settles with its answer. */
  readonly answered: Promise<unknown>
  /** What its last attempt failed with. */
  readonly failure: unknown
  /** Whether it was called off while it waited. */
  readonly aborted: boolean
  /** Runs it inside the open transaction, unless it is called off, and tells what that left of the transaction. */
  attempt(connection: Connection): Left
  /** Gives the answer of its last attempt, now that it is committed. */
  answer(): void
  /** Gives the reason for which it was called off. */
  callOff(): void
  /** Gives the failure of the whole batch, unless its own brought that about. */
  reject(error: unknown): void
}

/** Makes an operation of work that a signal may call off. */
export function createOperation<T>(
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
  readonly deadline: number = performance.now() + PATIENCE
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
