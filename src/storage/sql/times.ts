/** A time as our columns keep it: whole milliseconds since 1970. @throws TypeError when the date is none */
export function toMilliseconds(at: Date): number {
  const milliseconds = at.getTime()
  if (Number.isSafeInteger(milliseconds)) return milliseconds
  throw new TypeError('a time to be kept must be a valid Date')
}
