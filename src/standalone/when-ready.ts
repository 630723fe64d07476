import type { MaybePromise } from '../index.ts'

/** Goes on with a value: at once when it is there, else once it is. */
export function whenReady<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
