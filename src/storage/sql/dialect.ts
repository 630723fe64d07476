import type {
  ColumnDefinitionBuilder,
  Compilable,
  Dialect,
  Expression,
  InsertQueryBuilder,
  Kysely,
  RawBuilder,
} from 'kysely'
import type { IdColumn } from './ids.ts'
import type { Statement } from './query.ts'
import type { SchemaChanges, SchemaStatement, SchemaThing } from './schema/migration.ts'
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
  readonly lockingRead: '' | ' lock in share mode'
  /** The column that orders committed events: `id` where ids are given in order of commit. */
  readonly outboxOrder: 'id' | 'position'
  /** What of the schema gives events their position: as they are written where `outboxOrder` is `id`. */
  eventNumbering(prefix: string): readonly SchemaStatement[]
  /**
   * Gives the events with these ids, a JSON list, the positions after `last`, in the order of the list. Finds them by their
   * key: a row that is not committed is neither touched nor waited for. Undefined where `outboxOrder` is `id`.
   */
  readonly numberEvents: ((build: Kysely<Tables>, numbering: EventNumbering) => Compilable<unknown>) | undefined
  /** Removes the events with these ids, a JSON list. Finds them by their key, as `numberEvents` does. */
  removeEvents(build: Kysely<Tables>, ids: Expression<string>): Compilable<unknown>
  /** Whole milliseconds since 1970, by the database's clock. */
  readonly now: RawBuilder<number>
  /** The elements of a JSON list of texts, as rows of one column of this type. */
  elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string>
  /** The columns of the tables and views in a place. */
  columns(place: Place): Statement<{ readonly table: string; readonly column: string }>
  /** The tables, views, indexes and triggers in a place, their names in lower case; an index counts that can be used. */
  things(place: Place): Statement<SchemaThing>
  /** Whether every change of the schema is committed at once: then it is written so that it can be run again. */
  readonly ddlCommitsItself: boolean
  /** What follows `create index` where the table may be large and in use, and a run before may have ended halfway. */
  readonly newIndex: RawBuilder<unknown>
  /** Asks in which schema tables are made when none is named, null being none; undefined where there always is one. */
  readonly defaultSchema: Statement<{ readonly name: string | null }> | undefined
  /** Makes the schema that was asked for where it does not exist. */
  createSchema(schema: string | undefined): readonly SchemaStatement[]
  /** How the schema is changed while others use it; undefined where one write lock keeps all others away. */
  readonly schemaChanges: SchemaChanges | undefined
  /** Statements that belong together, as they would be written to be run by hand. */
  script(statements: readonly string[]): readonly string[]
}

/** Which events are given which positions. */
export interface EventNumbering {
  readonly ids: Expression<string>
  readonly last: Expression<number>
}

/** Where things of ours are: in a schema, whose names are told apart; undefined = the connection's own. */
export interface Place {
  readonly schema: string | undefined
  readonly prefix: string
}

/** A statement that is written out, for what it does. */
export function command(text: string): Statement<unknown> {
  return { sql: text, parameters: [], returnsRows: false }
}
