import { canonicalDateTime } from '../../schema/date-time.ts'

/**
 * Formats a time in the canonical form of documents: in UTC, unless it has an offset.
 *
 * @param offset - such as `-05:00`
 */
export function timeText(milliseconds: number, offset: string | null = null): string {
  const text = new Date(milliseconds + (offset === null ? 0 : minutesIn(offset) * 60_000)).toISOString()
  const exact = text.endsWith('.000Z') ? text.slice(0, -5) : text.slice(0, -1)
  return `${exact}${offset ?? 'Z'}`
}

/**
 * Returns the offsets of times, as they are stored; null if all are in UTC. The canonical form of a time has an offset
 * only if its year in UTC is not between 0000 and 9999.
 */
export function offsetsOf(texts: readonly (string | null | undefined)[]): string | null {
  const canonical = texts.map((text) => (text ? canonicalDateTime(text) : 'Z'))
  if (canonical.every((text) => text.endsWith('Z'))) return null
  return JSON.stringify(canonical.map((text) => (text.endsWith('Z') ? null : text.slice(-6))))
}

/** Returns the offsets that are stored, one for each time. */
export function offsetsIn(stored: string | null): readonly (string | null)[] {
  return stored === null ? [] : JSON.parse(stored)
}

function minutesIn(offset: string): number {
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))
  return offset.startsWith('-') ? -minutes : minutes
}
