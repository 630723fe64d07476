import type { ForgeError } from '../../schema/errors.ts'
import { invalidInput } from '../../schema/errors.ts'
import type { Page } from '../../schema/paging.ts'
import type { PageQuery } from '../contract/stores.ts'

/** The place of a row in a list: by the number, and then by the text. */
export type RowPlace = readonly [number, string]

/**
 * Cuts one page out of a complete list, and copies its items.
 *
 * @param placeOf - returns the place of a row, which grows along the list; a cursor names it
 * @throws ForgeError `INVALID_INPUT` if the cursor is invalid
 */
export function cutPage<T>(rows: readonly T[], placeOf: (row: T) => RowPlace, { from, limit }: PageQuery): Page<T> {
  const rest = 'after' in from ? following(rows, placeOf, placeIn(from.after)) : rows.slice((from.page - 1) * limit)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  const cursor = last !== undefined && rest.length > limit ? cursorOf(...placeOf(last)) : undefined
  return { items: structuredClone(items), total: rows.length, limit, cursor }
}

function following<T>(rows: readonly T[], placeOf: (row: T) => RowPlace, last: RowPlace): readonly T[] {
  return rows.filter((row) => comparePlaces(placeOf(row), last) > 0)
}

/** Compares two places, for `sort`. */
export function comparePlaces([one, text]: RowPlace, [other, otherText]: RowPlace): number {
  if (one !== other) return one - other
  if (text === otherText) return 0
  return text < otherText ? -1 : 1
}

/** Returns the cursor that names a place. */
export function cursorOf(number: number, text = ''): string {
  return `p${number} ${text}`
}

/** Returns the place that a cursor names. @throws ForgeError `INVALID_INPUT` if the cursor is invalid */
export function placeIn(cursor: string): RowPlace {
  const [, number, text] = /^p(-?\d{1,15}) (.*)$/su.exec(cursor) ?? []
  if (number !== undefined && text !== undefined) return [Number(number), text]
  throw noCursor()
}

/** Creates the error for a string that is not a cursor of the list. */
export function noCursor(): ForgeError<'INVALID_INPUT'> {
  return invalidInput('/after', 'cursor', 'after must be the cursor of an earlier page')
}
