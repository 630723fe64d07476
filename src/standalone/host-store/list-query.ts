import type { Compilable, Expression } from 'kysely'
import { sql } from 'kysely'
import type { Query, QueryValues } from '../../storage/sql/query.ts'
import { defineQuery } from '../../storage/sql/query.ts'
import type { HostContext } from './host-tables.ts'

/** A row, or all rows as one JSON list of lists. */
export type Listed<Row> = Row | { readonly rows: string }

/** A query for many small rows. Where a driver reads JSON faster than rows, they come as one JSON text. */
export interface ListQuery<Parameters, Row> {
  readonly query: Query<Parameters, Listed<Row>>
  /** Returns the rows that the query found. */
  rowsIn(found: readonly Listed<Row>[]): readonly Row[]
}

/**
 * Defines a query for many small rows.
 *
 * @param columns - the columns that are read, in any order
 */
export function defineListQuery<Parameters, Row extends object>(
  { build, dialect }: HostContext,
  columns: readonly (keyof Row & string)[],
  select: (given: QueryValues<Parameters>) => Compilable<Row> & Expression<unknown>,
): ListQuery<Parameters, Row> {
  const { jsonRows } = dialect
  if (jsonRows === undefined) return { query: defineQuery(select), rowsIn: (found) => found.filter(isRow) }

  return {
    query: defineQuery((given) => {
      const query = sql<Listed<Row>>`select ${jsonRows(columns)} as "rows" from ${select(given)} as listed`
      return { compile: () => query.compile(build) }
    }),
    rowsIn: ([all]) => (all !== undefined && 'rows' in all ? rowsOf(all.rows, columns) : []),
  }
}

function isRow<Row extends object>(found: Listed<Row>): found is Row {
  return !('rows' in found)
}

function rowsOf<Row>(json: string, columns: readonly (keyof Row & string)[]): readonly Row[] {
  const lists: readonly (readonly unknown[])[] = JSON.parse(json)
  return lists.map((values) => {
    const row: Record<string, unknown> = {}
    columns.forEach((column, index) => {
      row[column] = values[index]
    })
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: the query reads these columns
    return row as Row
  })
}
