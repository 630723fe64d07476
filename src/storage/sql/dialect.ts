import type { ColumnDefinitionBuilder, Dialect, Expression, InsertQueryBuilder, RawBuilder } from 'kysely'
import type { IdColumn } from './id-columns.ts'
import type { Statement } from './query.ts'
import type { Tables } from './tables.ts'

/**
 * What differs from one database to the next, as named capabilities: `dialects/` has one answer to each for every
 * database. Nothing else asks which one it is.
 */
export interface SqlDialect {
  /** How queries become text; it never runs them. */
  readonly compiler: Dialect
  /** The types of columns: integers of our own, short texts that are keys, texts, and the host's ids. */
  readonly types: {
    readonly integer: RawBuilder<unknown>
    readonly key: RawBuilder<unknown>
    readonly text: RawBuilder<unknown>
    readonly id: { readonly [C in IdColumn]: RawBuilder<unknown> }
  }
  /** What a parameter is cast to, to be of such a type. */
  readonly casts: {
    readonly integer: RawBuilder<unknown>
    readonly text: RawBuilder<unknown>
    readonly id: { readonly [C in IdColumn]: RawBuilder<unknown> }
  }
  /** A whole number as every driver gives it: a number, neither rounded nor as text. */
  number(expression: Expression<unknown>): RawBuilder<number>
  /** What follows the columns of a table. */
  readonly tableEnd: RawBuilder<unknown>
  /** What follows the columns of a table that is kept in the order of its primary key. */
  readonly keyedTableEnd: RawBuilder<unknown>
  /** Makes a key that grows with each row and is never given out twice. */
  serialKey(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** Whether an index can leave out the rows that have nothing in its column. */
  readonly partialIndexes: boolean
  /** Of a head that is there already, writes the version as it is: that locks it. */
  lockExisting<O>(insert: InsertQueryBuilder<Tables, 'heads', O>): InsertQueryBuilder<Tables, 'heads', O>
  /** Passes over a tombstone that is there already: then no row is given back. */
  skipExisting<O>(
    insert: InsertQueryBuilder<Tables, 'issue_tombstones', O>,
  ): InsertQueryBuilder<Tables, 'issue_tombstones', O>
  /** What ends a query behind a lock, so that it reads what is committed now and not when the transaction began. */
  readonly lockingRead: '' | ' for update'
  /** The column that orders committed events: `id` where ids are given in order of commit. */
  readonly outboxOrder: 'id' | 'position'
  /** What of the schema gives events their position: as they are written where `outboxOrder` is `id`. */
  eventNumbering(prefix: string): readonly Statement<unknown>[]
  /** The elements of a JSON list of texts, as rows of one column of this type. */
  elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string>
  /** The tables and views whose names begin so, and their columns. */
  columns(prefix: string): Statement<{ readonly table: string; readonly column: string }>
  /** The names, in lower case, of tables, views, indexes and triggers that begin so. */
  names(prefix: string): Statement<{ readonly name: string }>
}

/** A statement that is written out, for what it does. */
export function command(text: string): Statement<unknown> {
  return { sql: text, parameters: [], returnsRows: false }
}
