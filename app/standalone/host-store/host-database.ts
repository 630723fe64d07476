import type { MaybePromise } from 'forgelet'
import type { SqlDialectName, SqlStatement, SqlStorage, SqlTransactionOptions, SqlValue } from 'forgelet/storage'
import type { Steps } from '../steps.ts'
import { after, run, wait } from '../steps.ts'
import type { Sql, SqlForms } from './sql.ts'
import { FORMS, joined, raw, sql, statementIn } from './sql.ts'
import type { NewRow, TableName } from './tables.ts'
import { HOST_TABLES, isText } from './tables.ts'

/** The prefix of the forge's tables if no other is chosen. The host's tables begin with `host_` then. */
const STANDARD_PREFIX = 'forgelet_'

/** Where the tables are, as the storage was told. */
interface TableLocation {
  readonly prefix?: string | undefined
  readonly schema?: string | undefined
}

/** The database of a standalone host: its own tables beside those of its forge. With another prefix than the standard one, both have it. */
export class HostDatabase {
  readonly storage: SqlStorage<unknown>
  readonly dialect: SqlDialectName
  readonly forms: SqlForms
  /** The prefix of the tables of the forge. */
  readonly forgePrefix: string
  /** The prefix of the tables of the host. */
  readonly prefix: string
  readonly schema: string | undefined

  constructor(storage: SqlStorage<unknown>, { prefix = STANDARD_PREFIX, schema }: TableLocation) {
    this.storage = storage
    this.dialect = storage.database.dialect
    this.forms = FORMS[this.dialect]
    this.forgePrefix = prefix
    this.prefix = prefix === STANDARD_PREFIX ? 'host_' : `${prefix}host_`
    this.schema = schema
  }

  /** A table by its name in the database. */
  readonly table = (name: TableName): Sql => raw(this.qualified(name))

  /** A column of integers, as a query selects it: with or without the name of its table. */
  readonly integer = (column: string): Sql =>
    sql`${this.forms.number(raw(column))} as ${raw(column.slice(column.indexOf('.') + 1))}`

  /** All columns of a table, as a query selects them. */
  readonly columnsOf = (table: TableName): Sql =>
    joined(
      Object.entries(HOST_TABLES[table].columns).map(([name, type]) =>
        isText(type) ? raw(`${table}.${name}`) : this.integer(`${table}.${name}`),
      ),
    )

  /** Returns the name of a table with its prefix, and its schema if it has one. */
  qualified(name: string): string {
    const table = this.forms.name(`${this.prefix}${name}`)
    return this.schema === undefined ? table : `${this.forms.name(this.schema)}.${table}`
  }

  /** Returns a statement as the database takes it. */
  statement<Row>(part: Sql<Row>): SqlStatement<Row> {
    return statementIn(this.dialect, part)
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
    const { forms, integer } = this
    const { id: numbered, ...written } = HOST_TABLES[table].columns
    const names = Object.keys(written)
    const returning = numbered === undefined ? raw('') : sql` returning ${integer('id')}`
    const ids: number[] = []
    for (const group of inGroups(rows)) {
      const values = group.map((row) => sql`(${joined(names.map((name) => row[name] ?? null))})`)
      const insertion = sql<{ readonly id: number }>`insert into ${this.table(table)}
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
    const { table, forms } = this
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
