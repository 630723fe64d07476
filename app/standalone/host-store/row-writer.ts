import { sql } from 'kysely'
import type { MaybePromise, SyncOrAsync } from '../../../src/schema/sync-or-async.ts'
import { wait } from '../../../src/schema/sync-or-async.ts'
import type { SqlValue, Statement } from '../../../src/storage/sql/query.ts'
import type { HostContext, NewRow, TableName } from './tables.ts'
import { isNumbered, writtenColumns } from './tables.ts'

/** Where rows are inserted. */
export interface RowSink {
  /** Returns the ids that the rows were given, in their order, if the table has ids. */
  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): SyncOrAsync<readonly number[]>
}

/** Runs a statement, inside a transaction if there is one. */
type Run = <Row>(statement: Statement<Row>) => MaybePromise<readonly Row[]>

/** Inserts rows into the host's tables. */
export class RowWriter implements RowSink {
  readonly #context: HostContext
  readonly #run: Run
  readonly #texts: InsertTexts

  /** @param texts - those that other writers have compiled: compiling one takes longer than inserting its rows */
  constructor(context: HostContext, run: Run, texts: InsertTexts = new Map()) {
    this.#context = context
    this.#run = run
    this.#texts = texts
  }

  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): SyncOrAsync<readonly number[]>
  *insert(table: TableName, rows: readonly AnyRow[]): SyncOrAsync<readonly number[]> {
    const ids: number[] = []
    for (const group of inGroups(rows)) {
      for (const { id } of yield* wait(this.#run(this.#insertion(table, group)))) ids.push(id)
    }
    // A database assigns them in the order of the rows, but may return them in another.
    return ids.sort((one, other) => one - other)
  }

  #insertion(table: TableName, rows: readonly AnyRow[]): Statement<{ readonly id: number }> {
    const names = writtenColumns(table)
    return {
      sql: this.#text(table, names, rows.length),
      parameters: rows.flatMap((row) => names.map((name) => row[name] ?? null)),
      returnsRows: isNumbered(table),
      mayTakeLong: true,
    }
  }

  #text(table: TableName, names: readonly string[], count: number): string {
    const key = `${table} ${count}`
    const known = this.#texts.get(key)
    if (known !== undefined) return known

    const { build, columns } = this.#context
    const row = sql`(${sql.join(names.map(() => null))})`
    const values = sql.join(Array.from({ length: count }, () => row))
    const returning = isNumbered(table) ? sql` returning ${columns.number('id')} as id` : sql``
    const insert = sql`insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.id(name)))})
    values ${values}${returning}`
    const text = insert.compile(build).sql
    this.#texts.set(key, text)
    return text
  }
}

/** The texts of insertions, by table and number of rows. */
export type InsertTexts = Map<string, string>

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
