import type { MaybePromise } from 'forgelet'
import type { SqlStatement, SqlStorage, SqlTransactionOptions, SqlValue } from 'forgelet/storage'
import type { Steps } from '../steps.ts'
import { after, run, wait } from '../steps.ts'
import type { Sql } from './sql.ts'
import { joined, raw, sql, statementIn } from './sql.ts'
import type { HostContext, NewRow, TableName } from './tables.ts'
import { HOST_TABLES, hostContext } from './tables.ts'

/** The database of a standalone host: its own tables beside those of its forge. */
export class HostDatabase {
  readonly context: HostContext
  readonly storage: SqlStorage<unknown>

  /** @param location - where the tables are, as the storage was told */
  constructor(storage: SqlStorage<unknown>, location: Parameters<typeof hostContext>[1]) {
    this.context = hostContext(storage.database.dialect, location)
    this.storage = storage
  }

  /** Returns a statement as the database takes it. */
  statement<Row>(part: Sql<Row>): SqlStatement<Row> {
    return statementIn(this.context.dialect, part)
  }

  /**
   * Returns the rows of a statement. On SQLite it answers at once.
   *
   * @param transaction - a transaction of the host or of the storage that is open; the statement is part of it
   */
  rows<Row>(part: Sql<Row>, transaction?: unknown): MaybePromise<readonly Row[]> {
    return this.storage.database.rows(this.statement(part), transaction)
  }

  /** Changes rows of the tables, in a transaction that is open. */
  change(parts: readonly Sql[], transaction: unknown): MaybePromise<unknown> {
    const statements = parts.map((part): SqlStatement => ({ mayTakeLong: true, ...this.statement(part) }))
    return this.storage.database.rowsOfEach<readonly unknown[]>(statements, transaction)
  }

  /** Inserts rows. Returns the ids that they were given, in their order, if the table has ids. */
  insert<T extends TableName>(table: T, rows: readonly NewRow<T>[], transaction: unknown): Steps<readonly number[]>
  *insert(table: TableName, rows: readonly AnyRow[], transaction: unknown): Steps<readonly number[]> {
    const { forms, integer, table: named } = this.context
    const { id: numbered, ...written } = HOST_TABLES[table].columns
    const names = Object.keys(written)
    const returning = numbered === undefined ? raw('') : sql` returning ${integer('id')}`
    const ids: number[] = []
    for (const group of inGroups(rows)) {
      const values = group.map((row) => sql`(${joined(names.map((name) => row[name] ?? null))})`)
      const insertion = sql<{ readonly id: number }>`insert into ${named(table)}
        (${raw(names.map(forms.name).join(', '))}) values ${joined(values)}${returning}`
      for (const { id } of yield* wait(this.rows(insertion, transaction))) ids.push(id)
    }
    // A database assigns them in the order of the rows, but may return them in another.
    return ids.sort((one, other) => one - other)
  }

  /**
   * Writes to the tables of the host, all or nothing, and one after the other: what is found is still so when it is written. It
   * changes the one row that every process has, and takes that back: the next process that writes in this way waits for it.
   */
  write<T>(work: (transaction: unknown) => Steps<T>, options?: SqlTransactionOptions): Promise<T> {
    const { table, forms } = this.context
    const isRow = raw(`${forms.name('only')} = 1`)
    const changes = ['+', '-'].map((sign) =>
      this.statement(sql`update ${table('ledger')} set version = version ${raw(sign)} 1 where ${isRow}`),
    )
    const { database } = this.storage
    return database.transaction(
      (transaction) =>
        after(database.rowsOfEach<readonly unknown[]>(changes, transaction), () => run(work(transaction))),
      options,
    )
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
