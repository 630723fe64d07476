import type { Insertable, RawBuilder } from 'kysely'
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
/** More rows in one statement are not inserted faster. */
const MAX_ROWS = 16
/** SQLite copies the texts of a statement: more characters than this are not put together. */
const MAX_CHARACTERS_OF_ROWS = 64_000

/**
 * Defines the insertion of rows. A table has few statements, whatever the number of rows: one for each number of rows up
 * to 16 where a driver is fast with values, otherwise one for a JSON list of rows.
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
  if (records === undefined) return insertionOfValues(context, into, names, end)

  const many: Query<{ readonly json: string }, unknown> = defineQuery((given) => {
    const selected = sql.join(names.map((name) => sql.ref(`record.${name}`)))
    const query = sql`${into} select ${selected} from ${records(given('json'), columns)} ${end}`
    return { compile: () => query.compile(build) }
  })
  return (rows) => listsOf(rows).map((json) => ({ statement: many({ json }), size: json.length }))
}

/** Each statement has a cost of its own in SQLite, the more so inside of savepoints: several rows share it. */
function insertionOfValues<Row extends object>(
  { build }: HostContext,
  into: RawBuilder<unknown>,
  names: readonly string[],
  end: RawBuilder<unknown>,
): Insertion<Row> {
  /** The text of the statement for each number of rows. */
  const texts = new Map<number, string>()
  const textFor = (count: number): string => {
    const known = texts.get(count)
    if (known !== undefined) return known

    const row = sql`(${sql.join(names.map(() => null))})`
    const rows = sql.join(Array.from({ length: count }, () => row))
    const text = sql`${into} values ${rows} ${end}`.compile(build).sql
    texts.set(count, text)
    return text
  }
  return (rows) => {
    const statements: SizedStatement[] = []
    let parameters: SqlValue[] = []
    let count = 0
    let size = 0
    const finish = (): void => {
      statements.push({ statement: { sql: textFor(count), parameters, returnsRows: false }, size: 0 })
      parameters = []
      count = 0
      size = 0
    }
    for (const row of rows) {
      for (const name of names) {
        const value = columnOf(row, name)
        if (typeof value === 'string') size += value.length
        parameters.push(value)
      }
      count += 1
      if (count === MAX_ROWS || size >= MAX_CHARACTERS_OF_ROWS) finish()
    }
    if (count > 0) finish()
    return statements
  }
}

function columnOf(row: object, name: string): SqlValue {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: a row of a table has only such values
  const values = row as Readonly<Record<string, SqlValue>>
  return values[name] ?? null
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
