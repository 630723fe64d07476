import { textQuery } from '../dialect.ts'
import type { Statement } from '../query.ts'

/** Values of which it is known what the server sends. */
interface SentValues {
  readonly sentNumber: number
  readonly sentText: string
  readonly sentNull: null
}

/** A time has 13 digits. */
const NUMBER = 123_456_789_012_345
const TEXT = ' x '

/**
 * Returns a query for columns and for known values. Drivers read the rows of a query with a parameter in another way.
 *
 * @param double - makes a number of the type that ours are read as
 * @param text - the parameter for the text
 */
export function sentWith<Row>(
  columns: string,
  double: (number: number) => string,
  text: string,
): Statement<Row & SentValues> {
  return textQuery(
    `/* as it is */ select ${columns}, ${double(NUMBER)} as "sentNumber", ${text} as "sentText", null as "sentNull"`,
    [TEXT],
  )
}

/** Returns the row that was read. @throws TypeError if the connection has altered it; `settings` may have done so */
export function asSent<Row extends SentValues>(row: Row | undefined, settings: string): Row {
  if (row?.sentNumber === NUMBER && row.sentText === TEXT && row.sentNull === null) return row
  throw new TypeError(`the connection alters numbers, texts, nulls or names of columns: set neither ${settings}`)
}
