import type { Violation } from './errors.ts'
import { invalidInput } from './errors.ts'

/** Violations that one error reports at most: a long list of faults tells a caller no more than a short one. */
export const MAX_VIOLATIONS = 100

/** Why a text cannot be kept: the code of a violation, and the rest of a sentence that begins with the name of the text. */
export type TextFault = Pick<Violation, 'code' | 'message'>

/**
 * What is wrong with a text that every database must be able to keep; undefined when nothing is: it is not too long, holds
 * no NUL character, and is well-formed Unicode.
 *
 * @param longest - in characters (code points)
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
 * Checks a text that every database must be able to keep.
 *
 * @param name - what to call it in the error; its JSON pointer is `/name`
 * @param longest - in characters (code points)
 * @throws ForgeError `INVALID_INPUT` when it is too long, holds a NUL character, or is broken Unicode; TypeError when it is
 * not a text
 */
export function checkText(name: string, text: string, longest: number): void {
  if (typeof text !== 'string') throw new TypeError(`${name} must be a text`)

  const fault = textFault(text, longest)
  if (fault !== undefined) throw invalidInput(`/${name}`, fault.code, `${name} ${fault.message}`)
}

/** The violations of the elements of a list, in order; stops at the first 100, however long the list is. */
export function violationsIn<T>(
  list: readonly T[],
  violationOf: (element: T, index: number) => Violation | undefined,
): readonly Violation[] {
  const violations: Violation[] = []
  for (const [index, element] of list.entries()) {
    const violation = violationOf(element, index)
    if (violation !== undefined) violations.push(violation)
    if (violations.length === MAX_VIOLATIONS) break
  }
  return violations
}
