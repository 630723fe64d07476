/**
 * An id of one of the host's objects: opaque, canonical text (a decimal integer, a lower-case UUID, or any text of 1 to
 * 64 characters). Every id that forgelet returns is an `Id`. Ids are never reused.
 */
export type Id = string

/**
 * An id as input. Integers are converted to canonical text, and a UUID to lower case; a number that is not a safe integer
 * is a `TypeError`.
 */
export type IdInput = string | number | bigint

/** Most ids. What it matches needs no other check. */
const PLAIN_ID = /^[!-~]{1,64}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const CONTROL_CHARACTER = /\p{Cc}/u

/**
 * Converts an id from the host to canonical text, in which every port receives it: a host that keeps users by their ids finds
 * them by it.
 *
 * @param value - the host's id
 * @param name - the name of the id in error messages, for example `issue.id`
 * @throws TypeError when a number is not a safe integer, or when a text is empty, is longer than 64 characters (UTF-16
 * units), or contains a control character or an unpaired surrogate
 */
export function toId(value: IdInput, name: string): Id {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return String(value)
    throw new TypeError(`${name} must be a safe integer; pass larger ids as bigint or string`)
  }

  const text = typeof value === 'bigint' ? String(value) : value
  if (typeof text === 'string' && PLAIN_ID.test(text)) return text.length === 36 ? inLowerCase(text) : text
  if (typeof text !== 'string' || text.length === 0 || text.length > 64) {
    throw new TypeError(`${name} must be an integer or a string of 1 to 64 characters`)
  }
  if (CONTROL_CHARACTER.test(text) || !text.isWellFormed()) {
    throw new TypeError(`${name} must not contain control characters or malformed Unicode`)
  }
  return text
}

/** Returns a UUID in lower case, so that the ids of a user from two sources are the same; other texts as they are. */
function inLowerCase(text: string): string {
  return UUID.test(text) ? text.toLowerCase() : text
}
