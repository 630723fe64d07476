/** Returns whether a value is an object and not null. Arrays are objects; functions are not. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Returns a property of a value of an unknown type; undefined if there is none. */
export function propertyOf(value: unknown, name: string): unknown {
  return isObject(value) ? Reflect.get(value, name) : undefined
}

/** Returns whether a value has these methods. */
export function hasMethods(value: unknown, ...names: readonly string[]): value is object {
  return names.every((name) => typeof propertyOf(value, name) === 'function')
}

/**
 * Throws if an argument of a public function is not valid.
 *
 * @param caller - the name of the public function
 * @param name - the name of the argument
 * @param expected - a description of a valid argument
 * @throws TypeError with a message that contains all three
 */
export function need(isValid: boolean, caller: string, name: string, expected: string): void {
  if (!isValid) throw new TypeError(`${caller} needs ${name}: ${expected}`)
}

/** Checks a number and returns it. @throws TypeError unless it is an integer from `least` to `most` */
export function toInteger(value: number, name: string, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw new TypeError(`${name} must be an integer from ${least} to ${most}`)
}

/** Throws if an argument of a method is not an object. @throws TypeError with the argument's name and an example */
export function needObject(value: unknown, name: string, example: string): void {
  if (!isObject(value)) throw new TypeError(`${name} must be an object such as ${example}`)
}
