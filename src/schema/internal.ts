/** The key under which a forge stores its internals. The symbol is the same in every copy of the package. */
const INTERNALS = Symbol.for('forgelet.internals')

/**
 * Attaches internals to an object, for other modules of this package. They are not part of the object's type, because a
 * `unique symbol` would make the types of the ES module and of the CommonJS module incompatible.
 */
export function withInternals<T extends object>(target: T, internals: object): T {
  return Object.assign(target, { [INTERNALS]: internals })
}

/** Returns the internals that `withInternals` of any copy of the package attached to a value, or undefined. */
export function internalsOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, INTERNALS) : undefined
}
