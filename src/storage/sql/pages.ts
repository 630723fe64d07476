import type { ForgeError } from '../../schema/errors.ts'
import { invalidInput } from '../../schema/errors.ts'
import type { Page } from '../../schema/paging.ts'
import type { Steps } from '../../schema/steps.ts'
import type { PageQuery } from '../contract/page-query.ts'

/** Rows of a list from its beginning: those after a place, less the first `offset`. */
export interface Slice {
  readonly after: number
  readonly offset: number
  readonly limit: number
}

/** Rows of a list from its end, last first, less the last `offset`. */
export interface Tail {
  readonly offset: number
  readonly limit: number
}

/** A list that is read in pages. Every row has a place: an integer that grows along the list. */
export interface PagedList<Row, Item> {
  readonly total: number
  /** A place before the first row's. */
  readonly start: number
  slice(slice: Slice): Steps<readonly Row[]>
  tail(tail: Tail): Steps<readonly Row[]>
  place(row: Row): number
  item(row: Row): Item
}

/**
 * Reads one page. A page by number is found from the nearer end, so the first and the last cost the same.
 *
 * @throws ForgeError `INVALID_INPUT` for a cursor that is none
 */
export function* readPage<Row, Item>(list: PagedList<Row, Item>, { from, limit }: PageQuery): Steps<Page<Item>> {
  const { rows, more } =
    'after' in from ? yield* rowsAfter(list, placeOf(from.after), limit) : yield* rowsOfPage(list, from.page, limit)
  const last = rows.at(-1)
  const cursor = more && last !== undefined ? cursorOf(list.place(last)) : undefined
  return { items: rows.map((row) => list.item(row)), total: list.total, limit, cursor }
}

/** The cursor that asks for what comes after a place. */
export function cursorOf(place: number): string {
  return `s${place}`
}

/** The place a cursor names. @throws ForgeError `INVALID_INPUT` for a cursor that is none */
export function placeOf(cursor: string): number {
  const place = Number(/^s(-?\d{1,16})$/.exec(cursor)?.[1])
  if (Number.isSafeInteger(place)) return place
  throw noCursor()
}

/** The error for a text that is no cursor of the list asked. */
export function noCursor(): ForgeError<'INVALID_INPUT'> {
  return invalidInput('/after', 'cursor', 'after must be the cursor of an earlier page')
}

interface Rows<Row> {
  readonly rows: readonly Row[]
  /** Whether something comes after them. */
  readonly more: boolean
}

function* rowsAfter<Row, Item>(list: PagedList<Row, Item>, after: number, limit: number): Steps<Rows<Row>> {
  const rows = yield* list.slice({ after, offset: 0, limit: limit + 1 })
  return { rows: rows.slice(0, limit), more: rows.length > limit }
}

function* rowsOfPage<Row, Item>(list: PagedList<Row, Item>, page: number, limit: number): Steps<Rows<Row>> {
  const { total, start } = list
  if (page > Math.ceil(total / limit)) return { rows: [], more: false }

  const offset = (page - 1) * limit
  const count = Math.min(limit, total - offset)
  const behind = total - offset - count
  if (offset <= behind) return { rows: yield* list.slice({ after: start, offset, limit: count }), more: behind > 0 }

  const rows = yield* list.tail({ offset: behind, limit: count })
  return { rows: rows.toReversed(), more: behind > 0 }
}
