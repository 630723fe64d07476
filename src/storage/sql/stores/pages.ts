import type { Compilable, Expression, RawBuilder } from 'kysely'
import { LimitNode, OffsetNode, sql } from 'kysely'
import type { ForgeError } from '../../../schema/errors.ts'
import { invalidInput } from '../../../schema/errors.ts'
import type { Page } from '../../../schema/paging.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { PageQuery } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { Query, QueryValues } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
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
export interface ListTable<Key, Row> {
  readonly table: keyof Tables
  /** The column with the place of a row. */
  readonly place: string
  readonly columns: { readonly [Column in keyof Row & string]: RawBuilder<Row[Column]> }
  /** Restricts the table to the list. */
  readonly within: <P extends Key>(given: QueryValues<P>) => RawBuilder<unknown>
}

/** A row with its place in the list. */
export type Placed<Row> = Row & { readonly place: number }

/** Rows of a list and the head that counts the list, from one snapshot. */
export interface HeadAndRows<Row> extends CountedRows<Placed<Row>> {
  readonly retired: boolean
}

/** Reads parts of a list, each with the head in one statement, because the next statement may see another state. */
export interface PageReader<Key, Row> {
  slice(session: Session, given: Key & HeadKey & Slice): SyncOrAsync<HeadAndRows<Row>>
  tail(session: Session, given: Key & HeadKey & Tail): SyncOrAsync<HeadAndRows<Row>>
}

/**
 * The number of rows to skip from which on their places are found first, on the narrow index. Skipping a whole row costs
 * up to thirty times as much as skipping a place, and the join costs as much as skipping about a hundred rows.
 */
const DEEP_OFFSET = 100

/** Creates the reader of a list. */
export function pageReader<Key, Row>(context: SqlContext, list: ListTable<Key, Row>): PageReader<Key, Row> {
  const place = sql.ref(`${list.table}.${list.place}`)
  const head = headedBy<Row>(context, list)
  const sliceQuery = (isDeep: boolean): Query<Key & HeadKey & Slice, HeadedRow<Row>> =>
    defineQuery((given) =>
      head(given, { isDeep, order: sql`asc`, within: sql`${list.within(given)} and ${place} > ${given('after')}` }),
    )
  const tailQuery = (isDeep: boolean): Query<Key & HeadKey & Tail, HeadedRow<Row>> =>
    defineQuery((given) => head(given, { isDeep, order: sql`desc`, within: list.within(given) }))
  const queries = {
    slice: { shallow: sliceQuery(false), deep: sliceQuery(true) },
    tail: { shallow: tailQuery(false), deep: tailQuery(true) },
  }

  return {
    *slice(session, given) {
      const { shallow, deep } = queries.slice
      return splitHead(list, yield* query(session, given.offset < DEEP_OFFSET ? shallow(given) : deep(given)))
    },
    *tail(session, given) {
      const { shallow, deep } = queries.tail
      return splitHead(list, yield* query(session, given.offset < DEEP_OFFSET ? shallow(given) : deep(given)))
    },
  }
}

/** Which rows of a list are read. */
interface Selection {
  /** Whether the places are found first. */
  readonly isDeep: boolean
  readonly order: RawBuilder<unknown>
  readonly within: RawBuilder<unknown>
}

/** Returns the query for rows of a list beside their head. */
function headedBy<Row>({ build, columns, dialect }: SqlContext, list: ListTable<never, Row>) {
  const [table, place] = [sql.table(list.table), sql.ref(`${list.table}.${list.place}`)]
  const read: readonly (readonly [string, RawBuilder<unknown>])[] = [
    ['place', columns.number(`${list.table}.${list.place}`)],
    ...Object.entries<RawBuilder<unknown>>(list.columns),
  ]
  const names = read.map(([name]) => name)
  const selected = sql.join(read.map(([name, column]) => sql`${column} as ${sql.id(name)}`))

  return <P extends HeadKey & Tail>(
    given: QueryValues<P>,
    { isDeep, order, within }: Selection,
  ): Compilable<HeadedRow<Row>> => {
    const range = sql`order by ${place} ${order} ${rangeOf(given('limit'), given('offset'))}`
    const places = sql`select ${place} as at from ${table} where ${within} ${range}`
    const rows = isDeep
      ? sql`select ${selected} from (${places}) as places join ${table} on ${place} = places.at and ${within} order by places.at ${order}`
      : sql`select ${selected} from ${table} where ${within} ${range}`
    const [head, ofList] = [
      sql`${columns.number('heads.total')} as total, ${columns.number('heads.retired')} as retired`,
      sql`${sql.ref('heads.scope')} = ${given('scope')} and ${sql.ref('heads.key')} = ${given('key')}`,
    ]
    const joined = sql.join(names.map((name) => sql`page.${sql.id(name)}`))
    const query =
      dialect.jsonRows === undefined
        ? sql<
            HeadedRow<Row>
          >`select ${head}, ${joined} from ${sql.table('heads')} left join (${rows}) as page on true where ${ofList} order by page.place ${order}`
        : sql<
            HeadedRow<Row>
          >`select ${head}, (select ${dialect.jsonRows(names)} from (${rows})) as "rows" from ${sql.table('heads')} where ${ofList}`
    return { compile: () => query.compile(build) }
  }
}

interface HeadRow {
  readonly total: number
  readonly retired: number
}

/** A head with all rows as JSON, or beside one of the rows; if there are none, beside nulls. */
type HeadedRow<Row> = HeadRow &
  ({ readonly rows: string } | { readonly [Column in keyof Placed<Row>]: Placed<Row>[Column] | null })

function splitHead<Row>(list: ListTable<never, Row>, found: readonly HeadedRow<Row>[]): HeadAndRows<Row> {
  const [first] = found
  if (first === undefined) return { rows: [], total: 0, retired: false }

  const rows = 'rows' in first ? rowsIn(list, first.rows) : found.filter(isRow)
  return { rows, total: first.total, retired: first.retired !== 0 }
}

function rowsIn<Row>(list: ListTable<never, Row>, json: string): readonly Placed<Row>[] {
  const names = ['place', ...Object.keys(list.columns)]
  const rows: readonly (readonly unknown[])[] = JSON.parse(json)
  return rows.map((values) => {
    const row: Record<string, unknown> = {}
    names.forEach((name, index) => {
      row[name] = values[index]
    })
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
    return row as Placed<Row>
  })
}

function isRow<Row>(found: HeadedRow<Row>): found is HeadRow & Placed<Row> {
  return 'place' in found && found.place !== null
}

/** LIMIT and OFFSET. Each dialect writes them in its own way. */
function rangeOf(limit: Expression<number>, offset: Expression<number>): RawBuilder<unknown> {
  const nodes = [LimitNode.create(limit.toOperationNode()), OffsetNode.create(offset.toOperationNode())]
  return sql.join(
    nodes.map((node) => ({ toOperationNode: () => node })),
    sql` `,
  )
}
