const DECIMAL = /^\+?\d+$/
const MAX_INT64 = 9_223_372_036_854_775_807n

/**
 * Reads an integer in a path or query as Go's `strconv` does: decimal, with an optional plus sign and optional leading
 * zeros. Source: docs/behaviour.md, Everywhere
 *
 * @returns a number from 0 up, rounded beyond 2^53, `Infinity` beyond int64; undefined if the text is not such an
 * integer
 */
export function parseInteger(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined

  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  return BigInt(text.replace('+', '')) <= MAX_INT64 ? value : Number.POSITIVE_INFINITY
}
