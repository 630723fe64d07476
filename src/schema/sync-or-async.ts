/** A value, or a promise for it. */
export type MaybePromise<T> = T | Promise<T>

/**
 * A computation that can run synchronously or asynchronously. It is a generator that yields the promises it must wait
 * for. `runMaybeAsync` returns a value if the generator yields no promise. `runSync` always returns a value.
 */
export type SyncOrAsync<T> = Generator<Promise<void>, T, void>

/** Returns whether a value is a promise, or any object with a `then` method. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Returns a value that is not a promise immediately, and waits for a promise: `const x = yield* wait(port.ask())`. */
export function* wait<T>(value: MaybePromise<T>): SyncOrAsync<T> {
  if (!isPromise(value)) return value

  const settled: T[] = []
  yield Promise.resolve(value).then((result) => {
    settled.push(result)
  })
  for (const result of settled) return result
  throw new TypeError('a waiting step was resumed before its promise settled')
}

/**
 * Runs the steps. Returns a value if they wait for nothing, and a promise otherwise. An error of the steps is thrown
 * before the first wait and rejects the promise after it.
 */
export function runMaybeAsync<T>(steps: SyncOrAsync<T>): MaybePromise<T> {
  const first = steps.next()
  return first.done === true ? first.value : finish(steps, first.value)
}

/** Runs the steps and always returns a promise. */
export async function runAsync<T>(steps: SyncOrAsync<T>): Promise<T> {
  return runMaybeAsync(steps)
}

/**
 * Runs the steps synchronously.
 *
 * @throws TypeError when a step would have to wait; no later step runs
 */
export function runSync<T>(steps: SyncOrAsync<T>): T {
  const first = steps.next()
  if (first.done === true) return first.value

  const refusal = new TypeError(
    'a promise was met where nothing may wait: answer at once inside withTransactionSync and on synchronous storage',
  )
  abandon(first)
  abandon(steps.throw(refusal)) // runs the `finally` blocks of the steps
  throw refusal
}

// A rejection of a promise that is no longer awaited must not end the process.
function abandon(step: IteratorResult<Promise<void>, unknown>): void {
  if (step.done !== true) step.value.catch(() => undefined)
}

async function finish<T>(steps: SyncOrAsync<T>, first: Promise<void>): Promise<T> {
  let pending = first
  for (;;) {
    const next = await pending.then(
      () => steps.next(),
      (error: unknown) => steps.throw(error),
    )
    if (next.done === true) return next.value
    pending = next.value
  }
}
