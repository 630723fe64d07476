import type { ForgeError } from '../../../schema/errors.ts'
import { invalidInput } from '../../../schema/errors.ts'
import type { Page } from '../../../schema/paging.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { PageQuery } from '../../contract/stores.ts'

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

/** Rows of a list, and how many the whole list has: both from one snapshot. */
export interface CountedRows<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

/** A list that is read in pages. Every row has a place: an integer that grows along the list. */
export interface PagedList<Row, Item> {
  /** A place before the first row's. */
  readonly start: number
  /** How many rows there are, which is not known to be so when the next statement runs. */
  count(): SyncOrAsync<number>
  slice(slice: Slice): SyncOrAsync<CountedRows<Row>>
  tail(tail: Tail): SyncOrAsync<CountedRows<Row>>
  place(row: Row): number
  item(row: Row): Item
}

/**
 * Reads one page, in one statement where it begins the list or follows a cursor. Other pages are found from the nearer
 * end, so the first and the last cost the same.
 *
 * @throws ForgeError `INVALID_INPUT` for a cursor that is none
 */
export function* readPage<Row, Item>(list: PagedList<Row, Item>, { from, limit }: PageQuery): SyncOrAsync<Page<Item>> {
  const { rows, total, more } =
    'after' in from ? yield* rowsAfter(list, from.after, limit) : yield* rowsOfPage(list, from.page, limit)
  const last = rows.at(-1)
  const cursor = more && last !== undefined ? cursorOf(list.place(last)) : undefined
  return { items: rows.map((row) => list.item(row)), total, limit, cursor }
}

/** The cursor that asks for what comes after a place. */
export function cursorOf(place: number): string {
  return `s${place}`
}

/** The place a cursor names. @throws ForgeError `INVALID_INPUT` for a cursor that is none */
export function placeOf(cursor: string): number {
  const place = placeIn(cursor)
  if (place === undefined) throw noCursor()
  return place
}

/** The error for a text that is no cursor of the list asked. */
export function noCursor(): ForgeError<'INVALID_INPUT'> {
  return invalidInput('/after', 'cursor', 'after must be the cursor of an earlier page')
}

function placeIn(cursor: string): number | undefined {
  const place = Number(/^s(-?\d{1,16})$/.exec(cursor)?.[1])
  return Number.isSafeInteger(place) ? place : undefined
}

interface PageRows<Row> extends CountedRows<Row> {
  /** Whether something comes after them. */
  readonly more: boolean
}

function* rowsAfter<Row, Item>(list: PagedList<Row, Item>, cursor: string, limit: number): SyncOrAsync<PageRows<Row>> {
  const after = placeIn(cursor)
  if (after === undefined) {
    yield* list.count() // a list that is gone is refused before its cursor is
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
  if (found.total !== total) return yield* rowsFromStart(list, offset, limit) // the end has moved since it was counted
  return { rows: found.rows.toReversed(), total, more: behind > 0 }
}

/** The rows at an offset from the beginning, which need no total to be found. */
function* rowsFromStart<Row, Item>(
  list: PagedList<Row, Item>,
  offset: number,
  limit: number,
): SyncOrAsync<PageRows<Row>> {
  const { rows, total } = yield* list.slice({ after: list.start, offset, limit })
  return { rows, total, more: offset + rows.length < total }
}
