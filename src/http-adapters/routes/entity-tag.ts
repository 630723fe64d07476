const TAGS = /(?:W\/)?("[^"]*")/g

/**
 * Whether a client that sent this `If-None-Match` has the text already. Weak comparison: `W/` does not matter.
 * Source: RFC 9110, section 13.1.2
 *
 * @param header - one tag, several, or `*`; undefined when it was not sent
 * @param etag - the tag of the text, in quotes
 */
export function hasSeen(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true

  const tag = etag.replace(/^W\//, '')
  return [...header.matchAll(TAGS)].some((match) => match[1] === tag)
}
