/** A value, or a promise for it. */
export type MaybePromise<T> = T | Promise<T>

/**
 * A computation that can run synchronously or asynchronously. It is a generator that yields the promises it must wait
 * for. `runMaybeAsync` returns a value if the generator yields no promise. `runSync` always returns a value.
 */
export interface SyncOrAsync<T> {
  [Symbol.iterator](): SyncOrAsync<T>
  next(): IteratorResult<Promise<void>, T>
  throw(error: unknown): IteratorResult<Promise<void>, T>
}

/** Returns whether a value is a promise, or any object with a `then` method. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof thenOf(value) === 'function'
}

/** Reading the property is faster than looking for it with `in`: each answer of a port or a storage has another shape. */
function thenOf(value: { readonly then?: unknown }): unknown {
  return value.then
}

const REFUSAL =
  'a promise was returned where a value is required: inside withTransactionSync every port must return a value, and on a synchronous storage (memory, SQLite, a Durable Object) beforeCommit and, in an import, the tracker must too'

/** Gives up a promise: its rejection must not end the process. */
export function abandon(promise: Promise<unknown>): void {
  Promise.resolve(promise).catch(() => undefined)
}

/** Returns a value that is not a promise immediately, and waits for a promise: `const x = yield* wait(port.ask())`. */
export function wait<T>(value: MaybePromise<T>): SyncOrAsync<T> {
  return isPromise(value) ? new Waiting(value) : new Settled(value)
}

/** Returns whether a computation is one that `wait` returned for a value that was there. */
export function isDone(steps: SyncOrAsync<unknown>): boolean {
  return steps instanceof Settled
}

/**
 * A computation that is already done, and its own result. A generator for each value that is there would cost a tenth of a
 * change.
 */
class Settled<T> implements SyncOrAsync<T>, IteratorReturnResult<T> {
  readonly done = true
  readonly value: T

  constructor(value: T) {
    this.value = value
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): this {
    return this
  }

  throw(error: unknown): never {
    throw error
  }
}

/** A computation that waits for one promise. It is not a generator, because a read waits for nothing else. */
class Waiting<T> implements SyncOrAsync<T> {
  readonly answer: Promise<T>
  readonly #settled: T[] = []
  #isAsked = false

  constructor(answer: Promise<T>) {
    this.answer = answer
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): IteratorResult<Promise<void>, T> {
    if (!this.#isAsked) {
      this.#isAsked = true
      const value = Promise.resolve(this.answer).then((result) => void this.#settled.push(result))
      return { done: false, value }
    }
    for (const value of this.#settled) return { done: true, value }
    throw new TypeError('a waiting step was resumed before its promise settled')
  }

  throw(error: unknown): never {
    throw error
  }
}

/** Returns the answer, or rejects with the reason of the signal if that aborts first. */
export function beforeAbort<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    const settled = Promise.resolve(answer).then(resolve, reject)
    if (signal.aborted) return abort() // aborted while the answer was asked for: no event will follow

    signal.addEventListener('abort', abort, { once: true })
    settled.finally(() => signal.removeEventListener('abort', abort))
  })
}

/**
 * Runs the steps. Returns a value if they wait for nothing, and a promise otherwise. An error of the steps is thrown
 * before the first wait and rejects the promise after it.
 */
export function runMaybeAsync<T>(steps: SyncOrAsync<T>): MaybePromise<T> {
  if (steps instanceof Waiting) return Promise.resolve(steps.answer)
  const first = steps.next()
  return first.done === true ? first.value : finish(steps, first.value)
}

/** Runs the steps and always returns a promise. */
export function runAsync<T>(steps: SyncOrAsync<T>): Promise<T> {
  return promiseTry(() => runMaybeAsync(steps))
}

/** `Promise.try`. The promise that the work returns is not wrapped in another, as an async function would do. */
export function promiseTry<T>(work: () => MaybePromise<T>): Promise<T> {
  try {
    return Promise.resolve(work())
  } catch (error) {
    return Promise.reject(error)
  }
}

/**
 * Runs the steps synchronously.
 *
 * @throws TypeError when a step would have to wait; no later step runs
 */
export function runSync<T>(steps: SyncOrAsync<T>): T {
  const first = steps.next()
  if (first.done === true) return first.value

  const refused = new TypeError(REFUSAL)
  abandon(first.value)
  const last = steps.throw(refused) // runs the `finally` blocks of the steps
  if (last.done !== true) abandon(last.value)
  throw refused
}

async function finish<T>(steps: SyncOrAsync<T>, first: Promise<void>): Promise<T> {
  let pending = first
  for (;;) {
    let failure: { readonly error: unknown } | undefined
    try {
      await pending
    } catch (error) {
      failure = { error }
    }
    const next = failure === undefined ? steps.next() : steps.throw(failure.error)
    if (next.done === true) return next.value
    pending = next.value
  }
}
