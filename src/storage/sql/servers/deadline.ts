import { unavailable } from '../errors.ts'
import type { CallLimits, RetryLimits } from '../retry.ts'
import { MAX_CALL_MS } from '../retry.ts'

/** How long a call may take in which a statement grows with the data, in milliseconds. */
export const MAX_LONG_CALL_MS = 300_000

/** How long the server waits for one lock at most, in milliseconds. */
export const MAX_LOCK_WAIT_MS = 4000

/** How long a call keeps for ROLLBACK, in milliseconds. */
const ROLLBACK_MS = 500

/** The least wait for a lock, in milliseconds. Longer ones are multiples of it, so that statements have few texts. */
const LOCK_WAIT_STEP_MS = 500

/**
 * How long the server keeps a transaction of the storage whose process is silent, in seconds. The machine may be gone without
 * closing the connection. It is longer than a call, which ends its transaction itself.
 */
export const MAX_IDLE_S = 8

/** How long calls are waited for when the storage closes, in milliseconds. Ordinary ones have ended by then. */
const MAX_CLOSE_WAIT_MS = MAX_CALL_MS + 1000

/** The calls in progress. They have one timer, because one for each would be a noticeable part of a short read. */
export class Deadlines {
  /** Not a Set: V8 keeps what is removed from a long-lived one until a full garbage collection. */
  readonly #running: Deadline[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the timer calls back: no later than the end of any call. */
  #next = Number.POSITIVE_INFINITY
  readonly #failed: (error: unknown) => void

  /** @param failed - called with the error that a caller is answered */
  constructor(failed: (error: unknown) => void = ignore) {
    this.#failed = failed
  }

  /** Adds a call. */
  add(deadline: Deadline): void {
    this.#running.push(deadline)
    this.watch(deadline.end)
  }

  /** Removes a call that is answered. Behind the last there is no timer, which would keep the process running. */
  remove(deadline: Deadline, error: unknown): void {
    if (error !== undefined) this.#failed(error)
    this.#running.splice(this.#running.indexOf(deadline), 1)
    if (this.#running.length > 0) return
    clearTimeout(this.#timer)
    this.#next = Number.POSITIVE_INFINITY
  }

  /** Has the timer call back by the end of a call, if there are calls. */
  watch(end: number): void {
    if (end >= this.#next || this.#running.length === 0) return
    clearTimeout(this.#timer)
    this.#next = end
    this.#timer = setTimeout(() => this.#expire(), end - performance.now())
  }

  /** Waits until all callers are answered. Those that are not by then end with this error. */
  async allAnswered(interrupted: () => Error): Promise<void> {
    const interrupt = (): void => {
      for (const deadline of [...this.#running]) deadline.interrupt(interrupted())
    }
    const timer = setTimeout(interrupt, MAX_CLOSE_WAIT_MS)
    await Promise.allSettled(this.#running.map(({ answer }) => answer))
    clearTimeout(timer)
  }

  #expire(): void {
    const now = performance.now()
    this.#next = Number.POSITIVE_INFINITY
    for (const deadline of [...this.#running]) {
      // An answer may have arrived while the event loop was busy: it is read before the setImmediate callback runs.
      if (deadline.end <= now) setImmediate(() => deadline.expire())
      else this.watch(deadline.end)
    }
  }
}

/**
 * The end of a call of the storage. When it is reached, the caller is answered, and nothing more may be sent. It is no AbortSignal:
 * with its listeners, one costs five microseconds, a tenth of a read.
 */
export class Deadline {
  /** What the caller received when the call ended before its work. */
  #error: Error | undefined
  readonly #listeners: ((error: Error) => void)[] = []
  readonly #deadlines: Deadlines
  /** Creates the error for a call that runs out of time. A part of the call may have one of its own. */
  expired: () => Error
  /** When the call ends, as `performance.now()` counts. */
  end: number
  /** Whether the COMMIT was sent, and is not answered. */
  isCommitting = false
  /** What the caller receives; undefined before the call runs. */
  answer: Promise<unknown> | undefined

  constructor(deadlines: Deadlines, { milliseconds = MAX_CALL_MS, expired = noAnswer }: CallLimits = {}) {
    this.#deadlines = deadlines
    this.expired = expired
    this.end = performance.now() + milliseconds
  }

  /** Whether the call has ended before its work. */
  get isOver(): boolean {
    return this.#error !== undefined
  }

  /** Calls a listener when the call ends before its work. Returns a function that removes the listener. */
  onEnd(listener: (error: Error) => void): () => void {
    this.#listeners.push(listener)
    return () => void this.#listeners.splice(this.#listeners.indexOf(listener), 1)
  }

  /** How the work of the call is repeated after a definite abort. */
  get retries(): RetryLimits {
    const reserve = ROLLBACK_MS + LOCK_WAIT_STEP_MS
    const hasTimeAfter = (pause: number): boolean => !this.isOver && performance.now() + pause + reserve < this.end
    return { hasTimeAfter, maxAttempts: 10, maxPause: 200 }
  }

  /**
   * Runs a call, and answers by its end. What the work does after that is ignored.
   * @param recover - called when the work fails; what it returns is the answer
   */
  run<T>(
    work: (deadline: this) => Promise<T>,
    recover: (error: unknown) => Promise<T> = (error) => Promise.reject(error),
  ): Promise<T> {
    const answer = new Promise<T>((resolve, reject) => {
      let isAnswered = false
      const end = (error?: unknown): void => {
        if (!isAnswered) this.#deadlines.remove(this, error)
        isAnswered = true
      }
      const succeed = (value: T): void => {
        end()
        resolve(value)
      }
      const fail = (error: unknown): void => {
        end(error)
        reject(error)
      }
      this.onEnd(fail)
      this.#deadlines.add(this)
      work(this).then(succeed, (error: unknown) => recover(error).then(succeed, fail))
    })
    this.answer = answer
    return answer
  }

  /** Ends the call because it has run out of time, unless it was given more meanwhile. */
  expire(): void {
    if (this.end <= performance.now()) this.interrupt(this.expired())
    else this.#deadlines.watch(this.end)
  }

  /** Ends the call with this error. Its outcome is unknown if the COMMIT was sent. */
  interrupt(error: Error): void {
    if (this.#error !== undefined) return
    const ended = this.isCommitting ? outcomeUnknown() : error
    this.#error = ended
    for (const listener of [...this.#listeners]) listener(ended)
  }

  /** How long the server may wait for one lock, in milliseconds: the rest of the call, without the time for ROLLBACK. */
  get lockWaitMs(): number {
    const steps = Math.floor((this.end - performance.now() - ROLLBACK_MS) / LOCK_WAIT_STEP_MS)
    return Math.max(LOCK_WAIT_STEP_MS, Math.min(MAX_LOCK_WAIT_MS, steps * LOCK_WAIT_STEP_MS))
  }

  /** Gives the call so many milliseconds from now, if it had less. */
  lengthen(milliseconds: number): void {
    this.#limitTo(Math.max(this.end, performance.now() + milliseconds))
  }

  /** Gives the call five seconds from now, if it had more: for statements that do not grow with the data. */
  shorten(): void {
    this.#limitTo(Math.min(this.end, performance.now() + MAX_CALL_MS))
  }

  /**
   * Commits, in five seconds at most. Another attempt may follow.
   * @throws the error of the call if it is over
   */
  async commit<T>(work: () => Promise<T>): Promise<T> {
    if (this.#error !== undefined) throw this.#error
    this.isCommitting = true
    this.shorten()
    try {
      return await work()
    } finally {
      this.isCommitting = false
    }
  }

  #limitTo(end: number): void {
    this.end = end
    this.#deadlines.watch(end)
  }
}

function ignore(): void {}

function noAnswer(): Error {
  return unavailable('the database did not answer within five seconds')
}

function outcomeUnknown(): Error {
  return unavailable('the database did not answer the COMMIT: the change may be committed', undefined, 'unknown')
}
