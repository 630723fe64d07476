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
 * @throws TypeError when a number is not a safe integer, or a text is empty, longer than 64 characters, or holds a control character
 */
export function toId(value: IdInput, name: string): Id {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return String(value)
    throw new TypeError(`${name} must be a safe integer; pass larger ids as bigint or text`)
  }
  if (typeof value !== 'string' || value.length === 0 || value.length > 64) {
    throw new TypeError(`${name} must be an integer or a text of 1 to 64 characters`)
  }
  if (CONTROL_CHARACTER.test(value) || !value.isWellFormed()) {
    throw new TypeError(`${name} must not hold control characters or broken Unicode`)
  }

  return value
}
