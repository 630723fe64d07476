/** The fraction and the offset. What is before them is always in the same place. */
const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.(\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i
const UTC = /^(?:Z|[+-]00:00)$/i

/**
 * Returns whether a text is a `date-time` of JSON Schema: a real calendar date, `T` or `t`, a time with any fraction of
 * the second, and `Z`, `z` or an offset up to ±23:59. Second 60 is valid only at 23:59:60 UTC. Source: RFC 3339,
 * section 5.6.
 */
export function isDateTime(text: string): boolean {
  if (!DATE_TIME.test(text)) return false

  const day = text.slice(8, 10)
  // A day that the month does not have is the first days of the next one, or no date at all.
  if (day > '28' && new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate() !== Number(day)) return false
  if (text[17] !== '6') return true

  const utc = new Date(text.replace(/:60(\.\d+)?/, '').toUpperCase())
  return utc.getUTCHours() === 23 && utc.getUTCMinutes() === 59
}

/**
 * Returns the canonical form of a valid `date-time`: in UTC with `Z`, milliseconds only if there are some. Digits beyond
 * the milliseconds are cut, and a leap second becomes second 59. A time whose year in UTC is not between 0000 and 9999
 * keeps its offset, because RFC 3339 cannot express it in UTC.
 */
export function canonicalDateTime(text: string): string {
  if (text.length === 20 && text[10] === 'T' && text[17] !== '6' && text.endsWith('Z')) return text // most times

  const [, fraction = '', offset] = DATE_TIME.exec(text) ?? []
  if (offset === undefined) throw new RangeError('expected an RFC 3339 date-time')

  const local = text.slice(0, 19).toUpperCase().replace(':60', ':59')
  const thousandths = fraction.slice(0, 3).padEnd(3, '0')
  const milliseconds = thousandths === '000' ? '' : `.${thousandths}`
  if (UTC.test(offset)) return `${local}${milliseconds}Z`

  const utc = new Date(`${local}${offset}`).toISOString()
  return utc.length === 24 ? `${utc.slice(0, 19)}${milliseconds}Z` : `${local}${milliseconds}${offset}`
}
