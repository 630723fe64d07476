import type { Expression, RawBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import { invalidCursor, notFound } from '../../../schema/errors.ts'
import type { CursorPage, Page } from '../../../schema/paging.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { PageQuery } from '../../contract/stores.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { QueryValues } from '../query.ts'
import { defineQuery, rawQuery } from '../query.ts'
import { HEAD_SCOPES } from '../schema/tables.ts'
import type { Session } from '../session.ts'
import type { HeadKey } from './heads.ts'

/** A part of a list: the rows after a position, without the first `offset` rows. */
export interface Slice {
  readonly after: number
  readonly offset: number
  readonly limit: number
}

/** A row of a list. Its position is an integer that grows along the list. */
interface ListedRow {
  readonly sortKey: number
}

/**
 * Returns the part of a list that has a page, and one row more, which shows that the list goes on.
 *
 * @param start - a position before that of the first row
 * @throws ForgeError `INVALID_INPUT` if the cursor is invalid
 */
export function sliceIn({ from, limit }: PageQuery, start: number): Slice {
  const after = 'after' in from ? positionIn(from.after) : start
  const offset = 'page' in from ? Math.min((from.page - 1) * limit, Number.MAX_SAFE_INTEGER) : 0
  return { after, offset, limit: Math.min(limit + 1, Number.MAX_SAFE_INTEGER) }
}

/**
 * Returns the page of the rows that were found, without the one that shows that the list goes on.
 *
 * @param cursorAt - returns the cursor that continues after a row
 */
export function pageOf<Row, Item>(
  found: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  cursorAt: (last: Row) => string,
): CursorPage<Item> {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const cursor = last !== undefined && found.length > limit ? cursorAt(last) : undefined
  return { items: rows.map(toItem), limit, cursor }
}

/** Returns the cursor that continues after a position. */
export function cursorOf(position: number): string {
  return `s${position}`
}

/** Returns the position that a cursor names. @throws ForgeError `INVALID_INPUT` if the cursor is invalid */
export function positionIn(cursor: string): number {
  const position = Number(/^s(-?\d{1,16})$/.exec(cursor)?.[1])
  if (!Number.isSafeInteger(position)) throw invalidCursor()
  return position
}

/** Reads pages of lists that a head counts. */
export type PageReader<Key, Item> = (session: Session, key: Key & HeadKey, query: PageQuery) => MaybePromise<Page<Item>>

/** A list that a head counts: which rows a page has, and what it shows of each. */
interface CountedList<Key, Row, Item> {
  /** The columns of the rows beside the position. */
  readonly fields: readonly (keyof Row & string)[]
  /** Returns the query for the rows of a slice, in order. */
  readonly rows: (given: QueryValues<Key & HeadKey & Slice>) => Expression<Row>
  readonly toItem: (row: Row, key: Key) => Item
  /**
   * Whose list it is, where the storage sees in a table of the host whether it exists. The rows are counted then, because the
   * database removes some of them by itself. Undefined: the head knows.
   */
  readonly owner?:
    | ((given: QueryValues<Key & HeadKey & Slice>) => {
        readonly exists: RawBuilder<SqlBool>
        readonly total: Expression<unknown>
      })
    | undefined
}

/** The head of a list with all rows as JSON; or beside one of the rows, and beside nulls if there are none. */
type HeadAndRows<Row> = { readonly total: number | null; readonly retired: number } & (
  | Row
  | { readonly sortKey: null }
  | { readonly rows: string }
)

/** Creates a reader of pages. One statement reads the head and the rows: the next might see another state. */
export function pageReader<Key, Row extends ListedRow, Item>(
  { build, columns, dialect }: SqlContext,
  list: CountedList<Key, Row, Item>,
): PageReader<Key, Item> {
  const queryFor = (isCounted: boolean) =>
    defineQuery((given: QueryValues<Key & HeadKey & Slice>) => {
      const { table, head, found } = list.owner === undefined ? ofHead(given) : ofOwner(list.owner(given), isCounted)
      const names = ['sortKey', ...list.fields]
      const rows = list.rows(given)
      const query =
        dialect.jsonRows === undefined
          ? sql<
              HeadAndRows<Row>
            >`select ${head}, ${sql.join(names.map((name) => sql.ref(`page.${name}`)))} from ${table} left join ${rows} as page on true where ${found} order by ${sql.ref('page.sortKey')}`
          : sql<
              HeadAndRows<Row>
            >`select ${head}, (select ${dialect.jsonRows(names)} from ${rows}) as "rows" from ${table} where ${found}`
      return rawQuery(build, query)
    })

  function ofHead(given: QueryValues<Key & HeadKey & Slice>) {
    return {
      table: sql.table('heads'),
      head: sql`${columns.number('heads.total')} as total, ${columns.number('heads.retired')} as retired`,
      found: sql`${sql.ref('heads.scope')} = ${given('scope')} and ${sql.ref('heads.key')} = ${given('key')}`,
    }
  }

  function ofOwner({ exists, total }: { exists: RawBuilder<SqlBool>; total: Expression<unknown> }, isCounted: boolean) {
    const counted = dialect.number(isCounted ? sql`${total}` : sql`null`)
    const head = sql`${counted} as total, ${dialect.number(sql`0`)} as retired`
    return { table: sql`(select 1 as one) as list`, head, found: exists }
  }

  const [read, readOn] = [queryFor(true), queryFor(false)]

  return (session, key, query) =>
    after(session.all(('page' in query.from ? read : readOn)({ ...sliceIn(query, 0), ...key })), (found) => {
      const [head] = found
      const thing = HEAD_SCOPES[key.scope]
      const isGone = head === undefined ? list.owner !== undefined : head.retired !== 0
      if (isGone && thing !== undefined) throw notFound(thing)
      const toItem = (row: Row): Item => list.toItem(row, key)
      const { items, limit, cursor } = pageOf(rowsIn(found), query.limit, toItem, ({ sortKey }) => cursorOf(sortKey))
      return { items, total: head === undefined ? 0 : (head.total ?? undefined), limit, cursor }
    })
}

function rowsIn<Row extends ListedRow>(found: readonly HeadAndRows<Row>[]): readonly Row[] {
  const [head] = found
  return head !== undefined && 'rows' in head ? JSON.parse(head.rows) : found.filter(isRow)
}

function isRow<Row extends ListedRow>(found: HeadAndRows<Row>): found is HeadAndRows<Row> & Row {
  return 'sortKey' in found && found.sortKey !== null
}
