import type { ForgeError } from '../../schema/errors.ts'
import { invalidInput } from '../../schema/errors.ts'
import type { Page } from '../../schema/paging.ts'
import type { PageQuery } from '../contract/stores.ts'

/**
 * Cuts one page out of a complete list.
 *
 * @param placeOf - returns an integer that grows along the list; a cursor names it
 * @throws ForgeError `INVALID_INPUT` if the cursor is invalid
 */
export function cutPage<T>(items: readonly T[], placeOf: (item: T) => number, query: PageQuery): Page<T> {
  const { from, limit } = query
  const start = 'after' in from ? startAfter(items, placeOf, placeOfCursor(from.after)) : (from.page - 1) * limit
  const page = items.slice(start, start + limit)
  const last = page.at(-1)
  const cursor = last !== undefined && start + limit < items.length ? cursorOf(placeOf(last)) : undefined
  return { items: page, total: items.length, limit, cursor }
}

/** Returns the cursor that names a place. */
export function cursorOf(place: number): string {
  return `p${place}`
}

/** Returns the place that a cursor names. @throws ForgeError `INVALID_INPUT` if the cursor is invalid */
export function placeOfCursor(cursor: string): number {
  const place = /^p(-?\d{1,15})$/.exec(cursor)?.[1]
  if (place === undefined) throw noCursor()
  return Number(place)
}

/** Creates the error for an invalid cursor. */
export function noCursor(): ForgeError<'INVALID_INPUT'> {
  return invalidInput('/after', 'cursor', 'after must be the cursor of an earlier page')
}

function startAfter<T>(items: readonly T[], placeOf: (item: T) => number, place: number): number {
  const next = items.findIndex((item) => placeOf(item) > place)
  return next < 0 ? items.length : next
}
