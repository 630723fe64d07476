import { ForgeError, isForgeError } from '../../schema/errors.ts'
import type { Steps } from '../../schema/steps.ts'
import { runLater } from '../../schema/steps.ts'

/**
 * The calls of one join. Once the transaction is lost every later one fails: the database may have ended it, and what came
 * after would be committed alone.
 */
export class JoinedCalls {
  readonly #running = new Set<Promise<unknown>>()
  #lost: ForgeError | undefined
  #over = false

  /** Runs the operation of one call. */
  async perform<T>(steps: Steps<T>): Promise<T> {
    if (this.#over) throw new TypeError('join is over: its services cannot be used any more')
    if (this.#lost !== undefined) throw lostBefore(this.#lost)

    const call = runLater(steps)
    this.#running.add(call)
    try {
      return await call
    } catch (error) {
      if (losesTransaction(error)) this.#lost = error
      throw error
    } finally {
      this.#running.delete(call)
    }
  }

  /**
   * Runs the work that makes the calls, and answers once the last of them has ended.
   *
   * @throws ForgeError when the transaction was lost, also where the work kept that to itself: it must not be committed
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      const value = await work()
      await this.#settled()
      if (this.#lost !== undefined) throw this.#lost
      return value
    } finally {
      this.#over = true
      await this.#settled()
    }
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }
}

function losesTransaction(error: unknown): error is ForgeError {
  if (isForgeError(error, 'STORAGE_BUSY')) return error.details.retry === 'host-transaction'
  return isForgeError(error, 'STORAGE_UNAVAILABLE')
}

function lostBefore(cause: ForgeError): ForgeError<'STORAGE_BUSY'> {
  const message = 'an earlier call of this join lost the transaction: roll it back and run it again'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'host-transaction' }, { cause })
}
