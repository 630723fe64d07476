import type { JsonSchema } from '../json-schema.ts'

const CONTROL_CHARACTER = /\p{Cc}/u

/** What a name in a path is. */
export const nameSchema: JsonSchema = { type: 'string', minLength: 1 }

/** Whether a text of a path can be a name at all: what holds control characters is not even looked up. */
export function isName(text: string): boolean {
  return !CONTROL_CHARACTER.test(text)
}
