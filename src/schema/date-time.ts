const ZERO = 48
const COLON = 58
const HYPHEN = 45
const PLUS = 43
const POINT = 46
const CAPITAL_T = 84
const CAPITAL_Z = 90
const MINUTES_OF_A_DAY = 1440
const DAYS_OF_MONTH: readonly number[] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Returns whether a text is a `date-time` of JSON Schema: a real calendar date, `T` or `t`, a time with any fraction of
 * the second, and `Z`, `z` or an offset up to ±23:59. Second 60 is valid only at 23:59:60 UTC. Source: RFC 3339,
 * section 5.6.
 */
// Compares character codes instead of using a regular expression, because this check is most of the cost of a document.
export function isDateTime(text: string): boolean {
  if (text.charCodeAt(4) !== HYPHEN || text.charCodeAt(7) !== HYPHEN || (text.charCodeAt(10) | 32) !== 116) return false
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return false
  if (!isCalendarDate(twoDigits(text, 0), twoDigits(text, 2), twoDigits(text, 5), twoDigits(text, 8))) return false

  const offset = offsetMinutes(text, endOfFraction(text))
  return isTime(twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17), offset)
}

/** Returns the number of two digits, or -1 if there are no two digits at this index. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO
  const ones = text.charCodeAt(at + 1) - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}

function isCalendarDate(century: number, yearOfCentury: number, month: number, day: number): boolean {
  if (century < 0 || yearOfCentury < 0 || month < 1 || month > 12 || day < 1) return false

  const longest = month === 2 && isLeapYear(century, yearOfCentury) ? 29 : (DAYS_OF_MONTH[month - 1] ?? 0)
  return day <= longest
}

function isLeapYear(century: number, yearOfCentury: number): boolean {
  return yearOfCentury === 0 ? century % 4 === 0 : yearOfCentury % 4 === 0
}

function isTime(hour: number, minute: number, second: number, offset: number): boolean {
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || Number.isNaN(offset)) return false
  if (second < 60) return true

  const minuteInUtc = (hour * 60 + minute - offset + MINUTES_OF_A_DAY) % MINUTES_OF_A_DAY
  return second === 60 && minuteInUtc === MINUTES_OF_A_DAY - 1
}

/** Returns the index of the offset, after the seconds and their fraction. A point without digits is not a fraction. */
function endOfFraction(text: string): number {
  if (text.charCodeAt(19) !== POINT) return 19

  let end = 20
  while (isDigit(text.charCodeAt(end))) end += 1
  return end === 20 ? 19 : end
}

function isDigit(code: number): boolean {
  return code >= ZERO && code < COLON
}

/** Returns the offset from UTC in minutes. The text must end with the offset; otherwise returns NaN. */
function offsetMinutes(text: string, at: number): number {
  const sign = text.charCodeAt(at)
  if ((sign | 32) === 122) return text.length === at + 1 ? 0 : Number.NaN
  if ((sign !== PLUS && sign !== HYPHEN) || text.charCodeAt(at + 3) !== COLON || text.length !== at + 6)
    return Number.NaN

  const hours = twoDigits(text, at + 1)
  const minutes = twoDigits(text, at + 4)
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return Number.NaN
  return sign === HYPHEN ? -(hours * 60 + minutes) : hours * 60 + minutes
}

/**
 * Returns the canonical form of a valid `date-time`: in UTC with `Z`, milliseconds only if there are some. Digits beyond
 * the milliseconds are cut, and a leap second becomes second 59. A time whose year in UTC is not between 0000 and 9999
 * keeps its offset, because RFC 3339 cannot express it in UTC.
 */
export function canonicalDateTime(text: string): string {
  if (isCanonicalWithoutFraction(text)) return text

  const end = endOfFraction(text)
  const second = text.charCodeAt(17) === ZERO + 6 ? '59' : text.slice(17, 19)
  const local = `${text.slice(0, 10)}T${text.slice(11, 17)}${second}`
  const fraction = text.slice(20, Math.min(end, 23)).padEnd(3, '0')
  const milliseconds = fraction === '000' ? '' : `.${fraction}`

  const minutes = offsetMinutes(text, end)
  if (minutes === 0) return `${local}${milliseconds}Z`
  const utc = new Date(Date.parse(`${local}Z`) - minutes * 60_000).toISOString()
  return utc.length === 24 ? `${utc.slice(0, 19)}${milliseconds}Z` : `${local}${milliseconds}${text.slice(end)}`
}

/** Most times are in their canonical form. */
function isCanonicalWithoutFraction(text: string): boolean {
  return (
    text.length === 20 &&
    text.charCodeAt(19) === CAPITAL_Z &&
    text.charCodeAt(10) === CAPITAL_T &&
    text.charCodeAt(17) !== ZERO + 6
  )
}
