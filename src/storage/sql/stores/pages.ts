import type { ForgeError } from '../../../schema/errors.ts'
import { invalidInput } from '../../../schema/errors.ts'
import type { Page } from '../../../schema/paging.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { PageQuery } from '../../contract/stores.ts'

/** A part of a list from its beginning: the rows after a place, without the first `offset` rows. */
export interface Slice {
  readonly after: number
  readonly offset: number
  readonly limit: number
}

/** A part of a list from its end: last row first, without the last `offset` rows. */
export interface Tail {
  readonly offset: number
  readonly limit: number
}

/** Rows of a list and the number of rows in the whole list, from one snapshot. */
export interface CountedRows<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

/** A list that is read in pages. Every row has a place: an integer that grows along the list. */
export interface PagedList<Row, Item> {
  /** A place before the first row's. */
  readonly start: number
  /** Returns the number of rows. It may have changed when the next statement runs. */
  count(): SyncOrAsync<number>
  slice(slice: Slice): SyncOrAsync<CountedRows<Row>>
  tail(tail: Tail): SyncOrAsync<CountedRows<Row>>
  place(row: Row): number
  item(row: Row): Item
}

/**
 * Reads one page. It takes one statement if the page begins the list or follows a cursor. Other pages are found from
 * the nearer end, so the first and the last page cost the same.
 *
 * @throws ForgeError `INVALID_INPUT` if the cursor is invalid
 */
export function* readPage<Row, Item>(list: PagedList<Row, Item>, { from, limit }: PageQuery): SyncOrAsync<Page<Item>> {
  const { rows, total, more } =
    'after' in from ? yield* rowsAfter(list, from.after, limit) : yield* rowsOfPage(list, from.page, limit)
  const last = rows.at(-1)
  const cursor = more && last !== undefined ? cursorOf(list.place(last)) : undefined
  return { items: rows.map((row) => list.item(row)), total, limit, cursor }
}

/** Returns the cursor that continues after a place. */
export function cursorOf(place: number): string {
  return `s${place}`
}

/** Returns the place that a cursor names. @throws ForgeError `INVALID_INPUT` if the cursor is invalid */
export function placeOf(cursor: string): number {
  const place = placeIn(cursor)
  if (place === undefined) throw noCursor()
  return place
}

/** Creates the error for a string that is not a cursor of the list. */
export function noCursor(): ForgeError<'INVALID_INPUT'> {
  return invalidInput('/after', 'cursor', 'after must be the cursor of an earlier page')
}

function placeIn(cursor: string): number | undefined {
  const place = Number(/^s(-?\d{1,16})$/.exec(cursor)?.[1])
  return Number.isSafeInteger(place) ? place : undefined
}

interface PageRows<Row> extends CountedRows<Row> {
  /** Whether more rows follow. */
  readonly more: boolean
}

function* rowsAfter<Row, Item>(list: PagedList<Row, Item>, cursor: string, limit: number): SyncOrAsync<PageRows<Row>> {
  const after = placeIn(cursor)
  if (after === undefined) {
    yield* list.count() // refuses a retired list before an invalid cursor
    throw noCursor()
  }

  const { rows, total } = yield* list.slice({ after, offset: 0, limit: limit + 1 })
  return { rows: rows.slice(0, limit), total, more: rows.length > limit }
}

function* rowsOfPage<Row, Item>(list: PagedList<Row, Item>, page: number, limit: number): SyncOrAsync<PageRows<Row>> {
  const offset = (page - 1) * limit
  if (offset === 0) return yield* rowsFromStart(list, offset, limit)

  const total = yield* list.count()
  if (offset >= total) return { rows: [], total, more: false }

  const count = Math.min(limit, total - offset)
  const behind = total - offset - count
  if (offset <= behind) return yield* rowsFromStart(list, offset, limit)

  const found = yield* list.tail({ offset: behind, limit: count })
  if (found.total !== total) return yield* rowsFromStart(list, offset, limit) // the end has moved since the count
  return { rows: found.rows.toReversed(), total, more: behind > 0 }
}

/** Reads the rows at an offset from the beginning. This needs no total. */
function* rowsFromStart<Row, Item>(
  list: PagedList<Row, Item>,
  offset: number,
  limit: number,
): SyncOrAsync<PageRows<Row>> {
  const { rows, total } = yield* list.slice({ after: list.start, offset, limit })
  return { rows, total, more: offset + rows.length < total }
}
