import type { AliasedExpression, AliasedRawBuilder, Compilable, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { ForgeError } from '../../../schema/errors.ts'
import { invalidInput } from '../../../schema/errors.ts'
import type { Page } from '../../../schema/paging.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { PageQuery } from '../../contract/stores.ts'
import type { Columns } from '../columns.ts'
import type { SqlContext } from '../context.ts'
import type { Query, QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Tables } from '../schema/all-migrations.ts'
import type { HeadKey } from './locks.ts'

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

/** A table whose rows are a list. `Key` names the list, and `Row` is what is read of a row. */
export interface ListTable<Key> {
  readonly table: keyof Tables
  /** The column with the place of a row. */
  readonly place: string
  readonly columns: readonly AliasedExpression<unknown, string>[]
  /** Restricts the table to the list. */
  readonly within: <P extends Key>(given: QueryValues<P>) => RawBuilder<unknown>
}

/** The statements that read a list in pages, each with the head that counts the list. */
export interface PageQueries<Key, Row> {
  readonly slice: Query<Key & HeadKey & Slice, RowBesideHead<Row>>
  /** Last row first. */
  readonly tail: Query<Key & HeadKey & Tail, RowBesideHead<Row>>
}

/**
 * Defines the statements of a list. Both find the places on the narrow index first: skipping whole rows costs thirty
 * times as much. The head is part of the same statement, because the next statement may see another state.
 */
export function pageQueries<Key, Row>(context: SqlContext, list: ListTable<Key>): PageQueries<Key, Row> {
  const place = sql.ref(`${list.table}.${list.place}`)
  return {
    slice: defineQuery((given) =>
      pageQuery(context, list, { given, order: sql`asc`, restriction: sql`and ${place} > ${given('after')}` }),
    ),
    tail: defineQuery((given) => pageQuery(context, list, { given, order: sql`desc`, restriction: sql`` })),
  }
}

interface PageParts<P> {
  readonly given: QueryValues<P>
  readonly order: RawBuilder<unknown>
  readonly restriction: RawBuilder<unknown>
}

function pageQuery<Key, Row, P extends Key & HeadKey & Tail>(
  { build, columns }: SqlContext,
  list: ListTable<Key>,
  { given, order, restriction }: PageParts<P>,
): Compilable<RowBesideHead<Row>> {
  const [table, place, within] = [sql.table(list.table), sql.ref(`${list.table}.${list.place}`), list.within(given)]
  const places = sql`select ${place} as place from ${table} where ${within} ${restriction} order by ${place} ${order} limit ${given('limit')} offset ${given('offset')}`
  const query = sql<
    RowBesideHead<Row>
  >`select ${sql.join([...columnsBesideRows(columns), ...list.columns])} from ${sql.table('heads')} left join (${places}) as page on true left join ${table} on ${place} = page.place and ${within} where ${sql.ref('heads.scope')} = ${given('scope')} and ${sql.ref('heads.key')} = ${given('key')} order by page.place ${order}`
  return { compile: () => query.compile(build) }
}

/** A row of an aggregate's list beside the head. If the list, or the requested part of it, is empty, only the head. */
export type RowBesideHead<Row> = { readonly [Column in keyof Row]: Row[Column] | null } & {
  readonly total: number
  readonly retired: number
}

/** Returns the columns of a head that are selected beside the rows of its list. */
function columnsBesideRows(
  columns: Columns,
): readonly [AliasedRawBuilder<number, 'total'>, AliasedRawBuilder<number, 'retired'>] {
  return [columns.number('heads.total').as('total'), columns.number('heads.retired').as('retired')]
}

/**
 * Splits the result of one statement into the head and the rows of its list. Both come from one snapshot, in whatever
 * transaction the statement ran.
 *
 * @param column - a column that is null in no row of the list
 */
export function splitHead<Row>(
  found: readonly RowBesideHead<Row>[],
  column: keyof Row,
): { readonly rows: readonly Row[]; readonly total: number; readonly retired: boolean } {
  const [first] = found
  const rows = found.filter((row): row is RowBesideHead<Row> & Row => row[column] !== null)
  return { rows, total: first?.total ?? 0, retired: first !== undefined && first.retired !== 0 }
}
