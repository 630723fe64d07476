const DECIMAL = /^\+?\d+$/
const MOST_INT64 = 9_223_372_036_854_775_807n

/**
 * Reads an integer of a path or query as Go's `strconv` does: decimal, a plus sign and leading zeros allowed.
 * Source: docs/behaviour.md, Everywhere
 *
 * @returns a number from 0 up, rounded beyond 2^53, `Infinity` beyond int64; undefined for what is no such integer
 */
export function parseInteger(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined

  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  return BigInt(text.replace('+', '')) <= MOST_INT64 ? value : Number.POSITIVE_INFINITY
}
