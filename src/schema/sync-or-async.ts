/** A value, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>

/**
 * A computation that waits only where something asynchronous is met. It is a generator that yields what must be waited for:
 * run by `run` it is a value when nothing was, run by `runNow` it is a value always.
 */
export type SyncOrAsync<T> = Generator<Promise<void>, T, void>

/** Whether a value must be waited for. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Gives the value itself when it is there, else waits: `const x = yield* wait(port.ask())`. */
export function* wait<T>(value: MaybePromise<T>): SyncOrAsync<T> {
  if (!isPromise(value)) return value

  const settled: T[] = []
  yield Promise.resolve(value).then((result) => {
    settled.push(result)
  })
  for (const result of settled) return result
  throw new TypeError('a waiting step was resumed before its promise settled')
}

/** Runs the steps: a value at once when nothing asynchronous is met, else a promise. What the steps throw is thrown, or rejects. */
export function runMaybeAsync<T>(steps: SyncOrAsync<T>): MaybePromise<T> {
  const first = steps.next()
  return first.done === true ? first.value : finish(steps, first.value)
}

/** Runs the steps and always answers with a promise. */
export async function runAsync<T>(steps: SyncOrAsync<T>): Promise<T> {
  return runMaybeAsync(steps)
}

/**
 * Runs the steps at once.
 *
 * @throws TypeError when a step would have to wait; nothing after that step has run
 */
export function runSync<T>(steps: SyncOrAsync<T>): T {
  const first = steps.next()
  if (first.done === true) return first.value

  const refusal = new TypeError(
    'a promise was met where nothing may wait: answer at once inside joinSync and on synchronous storage',
  )
  abandon(first)
  abandon(steps.throw(refusal)) // lets the steps clean up behind themselves
  throw refusal
}

// A promise nobody waits for any more must not end the process when it is rejected.
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
