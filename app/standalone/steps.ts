import type { MaybePromise } from 'forgelet'

/**
 * A computation that waits only where the database does: on SQLite every statement answers at once. It is a generator that
 * yields the promises it waits for.
 */
export type Steps<T> = Generator<Promise<unknown>, T, void>

/** Returns a value that is there, and waits for a promise: `const rows = yield* wait(database.rows(statement))`. */
export function* wait<T>(value: MaybePromise<T>): Steps<T> {
  if (!(value instanceof Promise)) return value
  const settled: T[] = []
  yield value.then((result) => settled.push(result))
  for (const result of settled) return result
  throw new TypeError('a step was resumed before its promise settled')
}

/** Runs steps: returns a value if they wait for nothing, otherwise a promise. */
export function run<T>(steps: Steps<T>): MaybePromise<T> {
  const first = steps.next()
  return first.done === true ? first.value : finish(steps, first.value)
}

/** A loop: promises that each wait for the next one would all be kept until the last. */
async function finish<T>(steps: Steps<T>, first: Promise<unknown>): Promise<T> {
  for (let pending = first; ; ) {
    const next = await pending.then(
      () => steps.next(),
      (error: unknown) => steps.throw(error),
    )
    if (next.done === true) return next.value
    pending = next.value
  }
}

/** Calls `next` with a value: now, or behind the promise. */
export function after<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Makes a method of its steps. It answers at once if the database does. */
export function answered<A extends readonly unknown[], T>(
  steps: (...given: A) => Steps<T>,
): (...given: A) => MaybePromise<T> {
  return (...given) => run(steps(...given))
}
