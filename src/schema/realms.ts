// An object of another realm is not an instance of this realm's class. Jest runs a host and this package in a context of their own, to which
// the errors, times and URLs that Node creates do not belong.

/** Returns whether a value is an error. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || nameOf(value) === 'Error'
}

/** Returns whether a value is a TypeError, or of a class without a name of its own that extends it. */
export function isTypeError(value: unknown): boolean {
  return isError(value) && value.name === 'TypeError'
}

/** Returns whether a value is a Date that is valid. */
export function isValidDate(value: unknown): value is Date {
  return nameOf(value) === 'Date' && !Number.isNaN(Number(value))
}

/** Returns whether a value is a Uint8Array, such as a Buffer. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || nameOf(value) === 'Uint8Array'
}

/** Returns whether a value is a URL. */
export function isUrl(value: unknown): value is URL {
  return nameOf(value) === 'URL'
}

function nameOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}
