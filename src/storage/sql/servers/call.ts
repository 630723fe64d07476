import { unavailable } from '../errors.ts'
import type { RetryLimits } from '../retry.ts'

/** How long a call may take, in milliseconds. */
export const MAX_CALL_MS = 5000

/** How long a call may take in which a statement grows with the data, in milliseconds. */
export const MAX_LONG_CALL_MS = 300_000

/** How long the server waits for one lock, in milliseconds: shorter than a call, which then still has time for ROLLBACK. */
export const MAX_LOCK_WAIT_MS = 4000

/**
 * How long the server keeps a transaction of the storage whose process is silent, in seconds. The machine may be gone without
 * closing the connection. It is longer than a call, which ends its transaction itself.
 */
export const MAX_IDLE_S = 8

/** How a call is limited. */
export interface CallLimits {
  /** How long it may take, in milliseconds. Default: five seconds. */
  readonly milliseconds?: number
  /** Creates the error for a call that has run out of time. */
  readonly expired?: () => Error
}

/** One call of the storage, within its time limit. */
export class Call {
  readonly #ownExpired: () => Error
  #expired: () => Error
  #end: number
  #isOver = false
  #isDone = false
  #isCommitting = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #reject: (error: unknown) => void = ignore
  readonly #listeners = new Set<() => void>()

  constructor({ milliseconds = MAX_CALL_MS, expired = noAnswer }: CallLimits = {}) {
    this.#end = performance.now() + milliseconds
    this.#ownExpired = expired
    this.#expired = expired
  }

  /** Whether the caller was answered before the work was done: nothing more may be sent. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** How the work of the call is repeated after a definite abort. */
  get retries(): RetryLimits {
    const reserve = MAX_CALL_MS - MAX_LOCK_WAIT_MS
    const hasTimeAfter = (pause: number): boolean => !this.#isOver && performance.now() + pause + reserve < this.#end
    return { hasTimeAfter, maxAttempts: 10, maxPause: 200 }
  }

  /**
   * Runs the call, and answers by its end. What the work does after that is ignored.
   *
   * @param answered - called once, before the caller is answered
   */
  run<T>(work: (call: this) => Promise<T>, answered: (call: this, error?: unknown) => void = ignore): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = (error) => {
        if (this.#done()) answered(this, error)
        reject(error)
      }
      this.#arm()
      work(this).then((value) => {
        if (this.#done()) answered(this)
        resolve(value)
      }, this.#reject)
    })
  }

  /** Ends the call with this error. Its outcome is unknown if the COMMIT was sent. */
  interrupt(error: Error): void {
    if (this.#isDone) return
    this.#isOver = true
    this.#reject(this.#isCommitting ? outcomeUnknown() : error)
    for (const listener of this.#listeners) listener()
  }

  /** Sets the error for a call that runs out of time from now on. Default: the one that it began with. */
  expireWith(expired: () => Error = this.#ownExpired): void {
    this.#expired = expired
  }

  /** The error with which the call would run out of time now. */
  expiry(): Error {
    return this.#expired()
  }

  /** Gives the call five minutes from now: a statement that is sent next grows with the data. */
  lengthen(): void {
    this.#setEnd(Math.max(this.#end, performance.now() + MAX_LONG_CALL_MS))
  }

  /**
   * Must be called right before the COMMIT is sent: without its answer the outcome is unknown.
   * @throws the error of the call if it is over
   */
  startCommit(): void {
    if (this.#isOver) throw this.#expired()
    this.#isCommitting = true
    this.#setEnd(Math.min(this.#end, performance.now() + MAX_CALL_MS))
  }

  /** The COMMIT has ended: another attempt may follow. */
  endCommit(): void {
    this.#isCommitting = false
  }

  /** Calls a listener if the call ends before its work. Returns a function that removes it. */
  onInterrupt(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #setEnd(end: number): void {
    if (end === this.#end) return
    this.#end = end
    this.#arm()
  }

  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#isDone || this.#end === Number.POSITIVE_INFINITY) return
    // An answer may have arrived while the event loop was busy: it is read before the setImmediate callback runs.
    const expire = (): void => void setImmediate(() => this.#expire())
    this.#timer = setTimeout(expire, this.#end - performance.now())
  }

  #expire(): void {
    if (performance.now() > this.#end - TIMER_PRECISION_MS) this.interrupt(this.#expired())
  }

  /** Returns whether it was not done before. */
  #done(): boolean {
    if (this.#isDone) return false
    this.#isDone = true
    clearTimeout(this.#timer)
    return true
  }
}

/** How much earlier than asked a timer may fire, in milliseconds. */
const TIMER_PRECISION_MS = 5

function noAnswer(): Error {
  return unavailable('the database did not answer within five seconds')
}

function outcomeUnknown(): Error {
  return unavailable('the database did not answer the COMMIT: the change may be committed', undefined, 'unknown')
}

function ignore(): void {}
