import type { Connection } from './connection.ts'
import type { Ending } from './transactions.ts'
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
  /** Runs it inside the open transaction: 'lost' when the transaction is gone. */
  attempt(connection: Connection): 'kept' | 'lost'
  /** Gives the answer of its last attempt, now that it is committed. */
  answer(): void
  /** Gives the failure of the whole batch, unless its own brought that about. */
  reject(error: unknown): void
}

/** Makes an operation of work. */
export function createOperation<T>(work: () => T): { readonly operation: Operation; readonly answer: Promise<T> } {
  let settle: Settle<T> = { resolve: ignore, reject: ignore }
  const answer = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { operation: new PendingOperation(work, answer, settle), answer }
}

interface Settle<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

class PendingOperation<T> implements Operation {
  readonly deadline: number = performance.now() + PATIENCE
  readonly answered: Promise<unknown>
  readonly #work: () => T
  readonly #settle: Settle<T>
  #ending: Ending<T> | undefined

  constructor(work: () => T, answered: Promise<unknown>, settle: Settle<T>) {
    this.answered = answered
    this.#work = work
    this.#settle = settle
  }

  get failure(): unknown {
    return this.#ending?.ok === false ? this.#ending.error : undefined
  }

  attempt(connection: Connection): 'kept' | 'lost' {
    this.#ending = inSavepoint(connection, this.#work)
    return this.#ending.ok || !this.#ending.lost ? 'kept' : 'lost'
  }

  answer(): void {
    if (this.#ending?.ok === true) this.#settle.resolve(this.#ending.value)
    else this.#settle.reject(this.failure)
  }

  reject(error: unknown): void {
    const itsOwn = this.#ending?.ok === false && this.#ending.lost
    this.#settle.reject(itsOwn ? this.failure : error)
  }
}

function ignore(): void {}
