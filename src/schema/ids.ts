/**
 * An id of the host's: opaque, canonical text (a decimal integer, a lower-case UUID, or any text of 1 to 64 characters).
 * Everything that comes out of forgelet is an `Id`. Ids are never given out twice.
 */
export type Id = string

/** What a host may hand in for an id: integers are made canonical at the door; an unsafe integer is a `TypeError`. */
export type IdInput = string | number | bigint

const CONTROL_CHARACTER = /\p{Cc}/u

/**
 * Makes the canonical text of an id that a host handed in.
 *
 * @param value - the id as the host has it
 * @param name - what to call it in the error, for example `issue.id`
 * @throws TypeError when a number is not a safe integer, or the text is empty, longer than 64 characters (UTF-16 units), or
 * holds a control character or half a character
 */
export function toId(value: IdInput, name: string): Id {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new TypeError(`${name} must be a safe integer; pass larger ids as bigint or text`)
  }

  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  if (typeof text !== 'string' || text.length === 0 || text.length > 64) {
    throw new TypeError(`${name} must be an integer or a text of 1 to 64 characters`)
  }
  if (CONTROL_CHARACTER.test(text) || !text.isWellFormed()) {
    throw new TypeError(`${name} must not hold control characters or broken Unicode`)
  }
  return text
}
