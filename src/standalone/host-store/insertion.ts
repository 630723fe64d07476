import type { Insertable } from 'kysely'
import { sql } from 'kysely'
import type { RecordColumns } from '../../storage/sql/dialect.ts'
import type { Query, SqlValue, Statement } from '../../storage/sql/query.ts'
import { defineQuery } from '../../storage/sql/query.ts'
import type { HostContext, HostTables } from './host-tables.ts'

/** A statement, and how many characters it sends. */
export interface SizedStatement {
  readonly statement: Statement<unknown>
  readonly size: number
}

/** Returns the statements that insert rows into a table. */
export type Insertion<Row> = (rows: readonly Row[]) => readonly SizedStatement[]

/** How a table is written. */
interface Written<Row> {
  /** Every column that is written, with its type. */
  readonly columns: { readonly [Column in keyof Row & string]-?: RecordColumns[string] }
  /** The columns that are overwritten if a row with the same id exists. Default: none, such a row is an error. */
  readonly overwritten?: readonly string[] | undefined
}

/** How many characters of rows one statement has at most, unless it is one row. Servers limit what a statement sends. */
const MAX_CHARACTERS = 1_000_000

/**
 * Defines the insertion of rows. Each table has one statement, whatever the number of rows: for one row where a driver
 * is fast with that, otherwise for a JSON list of rows.
 */
export function defineInsertion<T extends keyof HostTables, Row extends Insertable<HostTables[T]>>(
  context: HostContext,
  table: T,
  { columns, overwritten = [] }: Written<Row>,
): Insertion<Row> {
  const { build, dialect } = context
  const names = Object.keys(columns)
  const into = sql`insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.id(name)))})`
  const end = overwritten.length === 0 ? sql`` : dialect.overwrite('id', overwritten)

  const { records } = dialect
  if (records === undefined) {
    const one: Query<Readonly<Record<string, SqlValue>>, unknown> = defineQuery((given) => {
      const query = sql`${into} values (${sql.join(names.map((name) => given(name)))}) ${end}`
      return { compile: () => query.compile(build) }
    })
    return (rows) => rows.map((row) => ({ statement: one(valuesOf(row)), size: 0 }))
  }

  const many: Query<{ readonly json: string }, unknown> = defineQuery((given) => {
    const selected = sql.join(names.map((name) => sql.ref(`record.${name}`)))
    const query = sql`${into} select ${selected} from ${records(given('json'), columns)} ${end}`
    return { compile: () => query.compile(build) }
  })
  return (rows) => listsOf(rows).map((json) => ({ statement: many({ json }), size: json.length }))
}

function valuesOf(row: object): Readonly<Record<string, SqlValue>> {
  return row as Readonly<Record<string, SqlValue>> // a row of a table has only such values
}

/** Returns JSON lists of the rows, in order. */
function listsOf(rows: readonly unknown[]): readonly string[] {
  const lists: string[] = []
  let open: string[] = []
  let size = 0
  for (const row of rows) {
    const json = JSON.stringify(row)
    if (open.length > 0 && size + json.length > MAX_CHARACTERS) {
      lists.push(`[${open.join()}]`)
      open = []
      size = 0
    }
    open.push(json)
    size += json.length
  }
  if (open.length > 0) lists.push(`[${open.join()}]`)
  return lists
}
