const CONTROL_CHARACTER = /\p{Cc}/u

/** Whether a text of a path can be a name at all: what holds control characters is not even looked up. */
export function isName(text: string): boolean {
  return !CONTROL_CHARACTER.test(text)
}
