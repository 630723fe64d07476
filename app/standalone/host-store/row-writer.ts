import type { SqlValue } from 'forgelet/storage'
import type { Steps } from '../steps.ts'
import type { Rows } from './host-database.ts'
import type { Sql } from './sql.ts'
import { joined, raw, sql } from './sql.ts'
import type { HostContext, NewRow, TableName } from './tables.ts'
import { isNumbered, writtenColumns } from './tables.ts'

/** Where rows are inserted. */
export interface RowSink {
  /** Returns the ids that the rows were given, in their order, if the table has ids. */
  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): Steps<readonly number[]>
}

/** Inserts rows into the host's tables. */
export class RowWriter implements RowSink {
  readonly #context: HostContext
  readonly #rows: Rows

  /** @param rows - runs a statement, inside a transaction if there is one */
  constructor(context: HostContext, rows: Rows) {
    this.#context = context
    this.#rows = rows
  }

  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): Steps<readonly number[]>
  *insert(table: TableName, rows: readonly AnyRow[]): Steps<readonly number[]> {
    const ids: number[] = []
    for (const group of inGroups(rows)) {
      for (const { id } of yield* this.#rows(this.#insertion(table, group))) ids.push(id)
    }
    // A database assigns them in the order of the rows, but may return them in another.
    return ids.sort((one, other) => one - other)
  }

  #insertion(table: TableName, rows: readonly AnyRow[]): Sql<{ readonly id: number }> {
    const { forms, tables } = this.#context
    const names = writtenColumns(table)
    const values = rows.map((row) => sql`(${joined(names.map((name) => row[name] ?? null))})`)
    const returning = isNumbered(table) ? sql` returning ${forms.number(raw('id'))} as id` : raw('')
    return sql`insert into ${tables[table]} (${raw(names.map(forms.name).join(', '))}) values ${joined(values)}${returning}`
  }
}

type AnyRow = Readonly<Record<string, SqlValue>>

/** More rows in one statement are not inserted faster. */
const MAX_ROWS = 16
/** How many characters one statement has at most, unless it is one row. SQLite copies them, and servers limit them. */
const MAX_CHARACTERS = 64_000

/** Puts rows that follow each other into one group, as far as one statement may have them. */
function inGroups(rows: readonly AnyRow[]): readonly (readonly AnyRow[])[] {
  const groups: AnyRow[][] = []
  let size = 0
  for (const row of rows) {
    const added = sizeOf(row)
    const group = groups.at(-1)
    if (group === undefined || group.length === MAX_ROWS || size + added > MAX_CHARACTERS) {
      groups.push([row])
      size = added
    } else {
      group.push(row)
      size += added
    }
  }
  return groups
}

function sizeOf(row: AnyRow): number {
  let size = 0
  for (const value of Object.values(row)) if (typeof value === 'string') size += value.length
  return size
}
