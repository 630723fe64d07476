/** Whether a value is an object that has properties to read. Arrays are objects, functions are not. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/**
 * Refuses an argument of a public function.
 *
 * @param caller - the function that was called
 * @param name - the argument
 * @param expected - what it should be
 * @throws TypeError that names all three
 */
export function need(isValid: boolean, caller: string, name: string, expected: string): void {
  if (!isValid) throw new TypeError(`${caller} needs ${name}: ${expected}`)
}

/** Refuses an argument of a method that should be an object. @throws TypeError that names it and shows an example */
export function needObject(value: unknown, name: string, example: string): void {
  if (!isObject(value)) throw new TypeError(`${name} must be an object such as ${example}`)
}
