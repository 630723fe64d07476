import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { isPromise } from '../../schema/sync-or-async.ts'

/**
 * Calls `next` with a value: immediately, or after the promise is fulfilled. For reads, which are most of what a storage does; a
 * change with several steps is a generator. An error that `next` throws is thrown at once or rejects the promise.
 */
export function after<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value)
}
