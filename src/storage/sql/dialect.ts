import type { ColumnDefinitionBuilder, Dialect, Expression, RawBuilder } from 'kysely'
import { DummyDriver, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import type { IdColumn } from './id-columns.ts'
import type { Statement } from './query.ts'
import type { Tables } from './tables.ts'

/** What differs from one database to the next. Nothing outside this file asks which one it is. */
export interface SqlDialect {
  /** How queries become text; it never runs them. */
  readonly compiler: Dialect
  /** The type of a column, and of a cast, for integers, texts and the host's ids. */
  readonly types: {
    readonly integer: RawBuilder<unknown>
    readonly text: RawBuilder<unknown>
    readonly id: { readonly [C in IdColumn]: RawBuilder<unknown> }
  }
  /** What follows the columns of a table. */
  readonly tableEnd: RawBuilder<unknown>
  /** What follows the columns of a table that is kept in the order of its primary key. */
  readonly keyedTableEnd: RawBuilder<unknown>
  /** Makes a key that grows with each row and is never given out twice. */
  serialKey(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** The column that orders committed events: `id` where ids are given in order of commit. */
  readonly outboxOrder: 'id' | 'position'
  /** Gives events their position as they are written, where `outboxOrder` is `id`. */
  eventNumbering(prefix: string): readonly Statement<unknown>[]
  /** The elements of a JSON list of texts, as rows of one column of this type. */
  elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string>
  /** The tables and views whose names begin so, and their columns. */
  columns(prefix: string): Statement<{ readonly table: string; readonly column: string }>
  /** The names, in lower case, of tables, views, indexes and triggers that begin so. */
  names(prefix: string): Statement<{ readonly name: string }>
  /** Takes the write lock of a host's transaction and changes nothing. */
  writeLock(prefix: string): Statement<unknown>
}

const INTEGER = sql`integer`
const TEXT = sql`text`

/** SQLite. Tables are STRICT; ids are given under the one write lock, so they are in order of commit. */
export const sqliteDialect: SqlDialect = {
  compiler: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  types: { integer: INTEGER, text: TEXT, id: { bigint: INTEGER, uuid: TEXT, text: TEXT } },
  tableEnd: sql`strict`,
  keyedTableEnd: sql`strict, without rowid`,
  serialKey: (column) => column.primaryKey().autoIncrement(),
  outboxOrder: 'id',
  eventNumbering: (prefix) => [
    command(
      `create trigger "${prefix}events_position" after insert on "${prefix}events" begin ` +
        `update "${prefix}events" set position = id where id = new.id; end`,
    ),
  ],
  elements: (json, type) => sql`(select cast(value as ${type}) from json_each(${json}))`,
  columns: (prefix) => ({
    sql:
      'select m.name as "table", c.name as "column" from sqlite_master as m, pragma_table_info(m.name) as c ' +
      "where m.type in ('table', 'view') and substr(m.name, 1, length(?)) = ?",
    parameters: [prefix, prefix],
    returnsRows: true,
  }),
  names: (prefix) => ({
    sql: 'select lower(name) as "name" from sqlite_master where substr(lower(name), 1, length(?)) = ?',
    parameters: [prefix, prefix],
    returnsRows: true,
  }),
  // the lock is taken before the condition finds no row
  writeLock: (prefix) => command(`update "${prefix}${'ledger' satisfies keyof Tables}" set only = only where only < 0`),
}

function command(text: string): Statement<unknown> {
  return { sql: text, parameters: [], returnsRows: false }
}
