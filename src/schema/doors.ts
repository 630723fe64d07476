/** Where a forge keeps what only this package uses; the same symbol in every copy of the package. */
const INTERNALS = Symbol.for('forgelet.internals')

/**
 * Hides something in an object for other modules of this package. It is not part of the object's type: a `unique symbol` there
 * would make the type of an ES module and that of a CommonJS module two types.
 */
export function withInternals<T extends object>(target: T, internals: object): T {
  return Object.assign(target, { [INTERNALS]: internals })
}

/** What `withInternals` has hidden in a value, by whichever copy of the package; undefined when there is nothing. */
export function internalsOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, INTERNALS) : undefined
}
