import { sql } from 'kysely'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { SqlValue, Statement } from '../../storage/sql/query.ts'
import type { HostContext, NewRow, NumberedTable, TableName } from './tables.ts'
import { writtenColumns } from './tables.ts'

/** Where rows are inserted. */
export interface RowSink {
  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): SyncOrAsync<void>
  /** Returns the ids that the rows were given, in their order. */
  insertNumbered<T extends NumberedTable>(table: T, rows: readonly NewRow<T>[]): SyncOrAsync<readonly number[]>
}

/** Runs a statement, inside a transaction if there is one. */
type Run = <Row>(statement: Statement<Row>) => MaybePromise<readonly Row[]>

/** Inserts rows into the host's tables. */
export class RowWriter implements RowSink {
  readonly #inserts: Inserts
  readonly #run: Run

  constructor(inserts: Inserts, run: Run) {
    this.#inserts = inserts
    this.#run = run
  }

  *insert<T extends TableName>(table: T, rows: readonly NewRow<T>[]): SyncOrAsync<void> {
    for (const statement of this.#inserts.of(table, rows, 'nothing')) yield* wait(this.#run(statement))
  }

  *insertNumbered<T extends NumberedTable>(table: T, rows: readonly NewRow<T>[]): SyncOrAsync<readonly number[]> {
    const ids: number[] = []
    for (const statement of this.#inserts.of(table, rows, 'ids')) {
      for (const { id } of yield* wait(this.#run(statement))) ids.push(id)
    }
    // A database assigns them in the order of the rows, but may return them in another.
    return ids.sort((one, other) => one - other)
  }
}

/** More rows in one statement are not inserted faster. */
const MAX_ROWS = 16
/** How many characters one statement has at most, unless it is one row. SQLite copies them, and servers limit them. */
const MAX_CHARACTERS = 64_000

type AnyRow = Readonly<Record<string, SqlValue>>

/** The statements that insert rows. Each table has few, whatever the number of rows, and they are compiled once. */
export class Inserts {
  readonly #context: HostContext
  readonly #texts = new Map<string, string>()

  constructor(context: HostContext) {
    this.#context = context
  }

  /** Returns the statements that insert these rows, in order. */
  of<T extends TableName>(
    table: T,
    rows: readonly NewRow<T>[],
    returns: 'ids' | 'nothing',
  ): readonly Statement<{ readonly id: number }>[]
  of(table: TableName, rows: readonly AnyRow[], returns: 'ids' | 'nothing'): readonly Statement<never>[] {
    const columns = writtenColumns(table)
    return inGroups(rows).map((group) => ({
      sql: this.#text(table, group.length, returns),
      parameters: group.flatMap((row) => columns.map((column) => row[column] ?? null)),
      returnsRows: returns === 'ids',
      mayTakeLong: true,
    }))
  }

  #text(table: TableName, count: number, returns: 'ids' | 'nothing'): string {
    const key = `${table} ${count} ${returns}`
    const known = this.#texts.get(key)
    if (known !== undefined) return known

    const { build, columns } = this.#context
    const names = writtenColumns(table)
    const row = sql`(${sql.join(names.map(() => null))})`
    const values = sql.join(Array.from({ length: count }, () => row))
    const insert = sql`insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.id(name)))}) values ${values}`
    const returning = sql`${insert} returning ${columns.number('id')} as id`
    const text = (returns === 'ids' ? returning : insert).compile(build).sql
    this.#texts.set(key, text)
    return text
  }
}

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
