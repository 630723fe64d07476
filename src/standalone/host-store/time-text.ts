import { canonicalDateTime } from '../../schema/date-time.ts'

/**
 * Formats a time in the canonical form of documents: in UTC, unless it has an offset.
 *
 * @param offset - such as `-05:00`
 */
// Three times as fast as toISOString, and an issue has up to three times.
export function timeText(milliseconds: number, offset: string | null = null): string {
  const date = new Date(milliseconds + (offset === null ? 0 : minutesIn(offset) * 60_000))
  const year = String(date.getUTCFullYear()).padStart(4, '0')
  const day = `${year}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`
  const time = `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}:${twoDigits(date.getUTCSeconds())}`
  const fraction = date.getUTCMilliseconds()
  const exact = fraction === 0 ? '' : `.${String(fraction).padStart(3, '0')}`
  return `${day}T${time}${exact}${offset ?? 'Z'}`
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number)
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
