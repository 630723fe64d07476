import { invalidCursor } from '../../schema/errors.ts'
import type { Page } from '../../schema/paging.ts'
import type { PageQuery } from '../contract/stores.ts'
import { copyOf } from './copy.ts'

/** What a list is sorted by: the number, and then by the text. */
export type SortKey = readonly [number, string]

/**
 * Cuts one page out of a complete list, and copies its items.
 *
 * @param sortKeyOf - returns the sort key of a row, which grows along the list; a cursor names it
 * @throws ForgeError `INVALID_INPUT` if the cursor is invalid
 */
export function cutPage<T>(rows: readonly T[], sortKeyOf: (row: T) => SortKey, { from, limit }: PageQuery): Page<T> {
  const rest = 'after' in from ? following(rows, sortKeyOf, sortKeyIn(from.after)) : rows.slice((from.page - 1) * limit)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  const cursor = last !== undefined && rest.length > limit ? cursorOf(...sortKeyOf(last)) : undefined
  return { items: copyOf(items), total: rows.length, limit, cursor }
}

function following<T>(rows: readonly T[], sortKeyOf: (row: T) => SortKey, last: SortKey): readonly T[] {
  return rows.filter((row) => compareSortKeys(sortKeyOf(row), last) > 0)
}

/** Compares two sort keys, for `sort`. */
export function compareSortKeys([one, text]: SortKey, [other, otherText]: SortKey): number {
  if (one !== other) return one - other
  if (text === otherText) return 0
  return text < otherText ? -1 : 1
}

/** Returns the cursor that names a sort key. */
export function cursorOf(number: number, text = ''): string {
  return `p${number} ${text}`
}

/** Returns the sort key that a cursor names. @throws ForgeError `INVALID_INPUT` if the cursor is invalid */
export function sortKeyIn(cursor: string): SortKey {
  const [, number, text] = /^p(-?\d{1,15}) (.*)$/su.exec(cursor) ?? []
  if (number !== undefined && text !== undefined) return [Number(number), text]
  throw invalidCursor()
}
