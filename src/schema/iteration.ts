import { isObject } from './arguments.ts'

/** What can be iterated, at once or asynchronously. */
export type AnyIterable<T> = Iterable<T> | AsyncIterable<T>

/** Returns whether a value can be iterated, at once or asynchronously. */
export function isIterable(value: unknown): value is object {
  return isObject(value) && (Symbol.asyncIterator in value || Symbol.iterator in value)
}

/** Begins to read a source. */
export function iteratorOf<T>(source: AnyIterable<T>): Iterator<T> | AsyncIterator<T> {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
}

/** Ends a source that was not read to its end. Does not wait: a source that is stuck would never return. */
export function endOf(iterator: Iterator<unknown> | AsyncIterator<unknown>): void {
  const ended = async (): Promise<unknown> => iterator.return?.()
  ended().catch(() => undefined)
}
