// The bytes that structure JSON.
const TAB = 9
export const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const BLANK = 32
export const QUOTE = 34
export const COMMA = 44
export const COLON = 58
export const BACKSLASH = 92
export const OPENING_BRACKET = 91
export const CLOSING_BRACKET = 93
export const OPENING_BRACE = 123
export const CLOSING_BRACE = 125

/** Returns whether JSON allows this byte between two tokens. */
export function isBlank(byte: number | undefined): boolean {
  return byte === BLANK || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB
}

/** Whether a byte is a comma, a colon, a quote, a brace or a bracket. */
export function isStructural(byte: number): boolean {
  return (
    byte === COMMA ||
    byte === COLON ||
    byte === QUOTE ||
    byte === OPENING_BRACE ||
    byte === OPENING_BRACKET ||
    byte === CLOSING_BRACE ||
    byte === CLOSING_BRACKET
  )
}
