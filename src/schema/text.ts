import { invalidInput } from './errors.ts'

/**
 * Checks a text that every database must be able to keep.
 *
 * @param name - what to call it in the error; its JSON pointer is `/name`
 * @param longest - in characters (code points)
 * @throws ForgeError `INVALID_INPUT` when it is too long, holds a NUL character, or is broken Unicode
 */
export function checkText(name: string, text: string, longest: number): void {
  if (text.length > longest && [...text].length > longest) {
    throw invalidInput(`/${name}`, 'too_long', `${name} must not be longer than ${longest} characters`)
  }
  if (text.includes('\0') || !text.isWellFormed()) {
    throw invalidInput(`/${name}`, 'text', `${name} must be well-formed text without NUL characters`)
  }
}
