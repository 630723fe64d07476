import { ForgeError, invalidInput } from './errors.ts'
import type { Violation } from './violation.ts'

/** The maximum number of violations in one error. A longer list does not help a caller more. */
export const MAX_VIOLATIONS = 100

/**
 * Why a text cannot be stored: the code of a violation, and a message that follows the name of the text in a sentence.
 */
type TextFault = Pick<Violation, 'code' | 'message'>

/**
 * Checks whether every database can store a text. Such a text is not too long, contains no NUL character, and is
 * well-formed Unicode.
 *
 * @param longest - the maximum length in characters (code points)
 * @returns what is wrong with the text, or undefined if it is valid
 */
export function textFault(text: string, longest: number): TextFault | undefined {
  if (text.length > longest && [...text].length > longest) {
    return { code: 'too_long', message: `must not be longer than ${longest} characters` }
  }
  if (text.includes('\0') || !text.isWellFormed()) {
    return { code: 'text', message: 'must be well-formed text without NUL characters' }
  }
  return undefined
}

/**
 * Throws unless every database can store a text.
 *
 * @param name - the name of the text in the error; its JSON pointer is `/name`
 * @param longest - the maximum length in characters (code points)
 * @throws ForgeError `INVALID_INPUT` when the text is too long, contains a NUL character, or is not well-formed
 * Unicode; TypeError when the value is not a string
 */
export function checkText(name: string, text: string, longest: number): void {
  if (typeof text !== 'string') throw new TypeError(`${name} must be a string`)

  const fault = textFault(text, longest)
  if (fault !== undefined) throw invalidInput(`/${name}`, fault.code, `${name} ${fault.message}`)
}

/**
 * Checks the elements of a list.
 * @throws ForgeError `INVALID_INPUT` with their first 100 violations, in order. Stops checking after the 100th
 */
export function checkEach<T>(
  list: readonly T[],
  violationOf: (element: T, index: number) => Violation | undefined,
): void {
  const violations: Violation[] = []
  for (const [index, element] of list.entries()) {
    const violation = violationOf(element, index)
    if (violation !== undefined) violations.push(violation)
    if (violations.length === MAX_VIOLATIONS) break
  }
  const [first] = violations
  if (first !== undefined) throw new ForgeError('INVALID_INPUT', `${first.pointer}: ${first.message}`, { violations })
}
