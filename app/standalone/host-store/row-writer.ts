import type { SqlValue } from 'forgelet/storage'
import type { Steps } from '../steps.ts'
import type { Sql } from './sql.ts'
import { joined, raw, sql } from './sql.ts'
import type { HostContext, NewRow, TableName } from './tables.ts'
import { HOST_TABLES } from './tables.ts'

/** Returns the rows of a statement, as part of a transaction if there is one. */
export type Rows = <Row>(part: Sql<Row>) => Steps<readonly Row[]>

/** Where rows are inserted. */
export interface RowSink {
  /** Returns the ids that the rows were given, in their order, if the table has ids. */
  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): Steps<readonly number[]>
}

/** Writes to the host's tables. */
export class RowWriter implements RowSink {
  readonly context: HostContext
  readonly rows: Rows

  /** @param rows - runs a statement, inside a transaction if there is one */
  constructor(context: HostContext, rows: Rows) {
    this.context = context
    this.rows = rows
  }

  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): Steps<readonly number[]>
  *insert(table: TableName, rows: readonly AnyRow[]): Steps<readonly number[]> {
    const { forms, table: named } = this.context
    const { id: numbered, ...written } = HOST_TABLES[table].columns
    const names = Object.keys(written)
    const returning = numbered === undefined ? raw('') : sql` returning ${forms.number(raw('id'))} as id`
    const ids: number[] = []
    for (const group of inGroups(rows)) {
      const values = group.map((row) => sql`(${joined(names.map((name) => row[name] ?? null))})`)
      const insertion = sql<{ readonly id: number }>`insert into ${named(table)}
        (${raw(names.map(forms.name).join(', '))}) values ${joined(values)}${returning}`
      for (const { id } of yield* this.rows(insertion)) ids.push(id)
    }
    // A database assigns them in the order of the rows, but may return them in another.
    return ids.sort((one, other) => one - other)
  }
}

type AnyRow = Readonly<Record<string, SqlValue>>

/** More rows in one statement are not inserted faster. */
const MAX_ROWS = 16
/** How many characters one statement has at most, unless it is one row. SQLite copies them, and servers limit them. */
const MAX_CHARACTERS = 64_000

/** Yields rows that follow each other in groups, as far as one statement may have them. */
function* inGroups(rows: readonly AnyRow[]): Generator<readonly AnyRow[], void, void> {
  let group: AnyRow[] = []
  let size = 0
  for (const row of rows) {
    const added = Object.values(row).reduce<number>((sum, one) => sum + (typeof one === 'string' ? one.length : 0), 0)
    if (group.length === MAX_ROWS || (group.length > 0 && size + added > MAX_CHARACTERS)) {
      yield group
      group = []
      size = 0
    }
    group.push(row)
    size += added
  }
  if (group.length > 0) yield group
}
