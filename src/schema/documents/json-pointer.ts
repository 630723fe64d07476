/** Writes a path of property names and array indexes as a JSON pointer; the whole document is `""`. Source: RFC 6901. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${escapeStep(String(step))}`).join('')
}

// ~ first, or the ~ of the escape for / would be escaped again
function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}
