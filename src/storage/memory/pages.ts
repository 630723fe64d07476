import type { ForgeError } from '../../schema/errors.ts'
import { invalidInput } from '../../schema/errors.ts'
import type { Page } from '../../schema/paging.ts'
import type { PageQuery } from '../contract/stores.ts'

/** A list that is read where a page needs it: an array, or one seen from its end. */
export interface Rows<T> {
  readonly length: number
  at(index: number): T | undefined
}

/** Returns the same rows, last row first. */
export function reversed<T>(rows: readonly T[]): Rows<T> {
  return { length: rows.length, at: (index) => rows[rows.length - 1 - index] }
}

/**
 * Cuts one page out of a complete list, without a copy of the list.
 *
 * @param placeOf - returns an integer that grows along the list; a cursor names it
 * @throws ForgeError `INVALID_INPUT` if the cursor is invalid
 */
export function cutPage<T>(rows: Rows<T>, placeOf: (item: T) => number, query: PageQuery): Page<T> {
  const { from, limit } = query
  const start = 'after' in from ? indexAfter(rows, placeOf, placeOfCursor(from.after)) : (from.page - 1) * limit
  const page: T[] = []
  for (let index = start; index < Math.min(start + limit, rows.length); index += 1) {
    const row = rows.at(index)
    if (row !== undefined) page.push(row)
  }
  const last = page.at(-1)
  const cursor = last !== undefined && start + limit < rows.length ? cursorOf(placeOf(last)) : undefined
  return { items: page, total: rows.length, limit, cursor }
}

/** Returns the index of the first row after a place. */
export function indexAfter<T>(rows: Rows<T>, placeOf: (item: T) => number, place: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    const row = rows.at(middle)
    if (row !== undefined && placeOf(row) <= place) low = middle + 1
    else high = middle
  }
  return low
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
