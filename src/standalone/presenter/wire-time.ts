/** RFC 3339 in UTC, second precision. Source: docs/behaviour.md, Everywhere. */
export function wireTime(at: Date): string {
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** What stands for "never" on the wire. */
export const NEVER = '0001-01-01T00:00:00Z'

/** What Gitea sends for a stored time that was never set. */
export const UNSET = '1970-01-01T00:00:00Z'
