import type {
  ColumnDefinitionBuilder,
  Compilable,
  Dialect,
  DialectAdapter,
  Expression,
  InsertQueryBuilder,
  Kysely,
  QueryCompiler,
  RawBuilder,
  RootOperationNode,
  SqlBool,
} from 'kysely'
import { DummyDriver, SqliteIntrospector } from 'kysely'
import type { SqlValue, Statement } from './query.ts'
import { compileStatement } from './query.ts'
import type { Tables } from './schema/tables.ts'

/** The SQL that a database speaks. */
export type SqlDialectName = 'sqlite' | 'postgres' | 'mariadb'

/**
 * What differs between databases, as named capabilities. `dialects/` implements each of them for every database. No
 * other code asks which database is used.
 */
export interface SqlDialect {
  /** For hosts, which write their own statements. */
  readonly name: SqlDialectName
  /** Compiles queries to text: see `compilerOnly`. */
  readonly compiler: Dialect
  /** The types of columns: our integers, short texts that are keys, texts, and the host's ids. */
  readonly types: {
    readonly integer: RawBuilder<unknown>
    readonly key: RawBuilder<unknown>
    readonly text: RawBuilder<unknown>
    readonly id: { readonly [C in IdColumn]: RawBuilder<unknown> }
  }
  /** The types that values are cast to for such a column. */
  readonly casts: {
    readonly integer: RawBuilder<unknown>
    readonly text: RawBuilder<unknown>
    readonly id: { readonly [C in IdColumn]: RawBuilder<unknown> }
  }
  /** The type of `casts` to which no parameter is cast, because it would be compared by a collation of its own. */
  readonly uncast?: RawBuilder<unknown>
  /** Whether an id in an integer column is bound as a number, unless it is so long that a number may not be exact. */
  readonly bindsIntegersAsNumbers: boolean
  /** Reads an integer so that every driver returns it as a number, neither rounded nor as text. */
  number<V = number>(expression: Expression<unknown>): RawBuilder<V>
  /** What follows the columns of a table. If we assign its primary key, its rows are stored in the order of the key. */
  tableEnd(assignsKey: boolean): RawBuilder<unknown>
  /** Defines a key that grows with each row and is never assigned twice. */
  serialKey(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** Whether an index can leave out the rows whose column is null. */
  readonly partialIndexes: boolean
  /**
   * Writes the version of a head that exists already, which locks the head; unchanged where that suffices. Undefined if a
   * transaction that writes has the one write lock of the database: then nothing else is to be locked.
   */
  readonly lockExisting?: <O>(insert: InsertQueryBuilder<Tables, 'heads', O>) => InsertQueryBuilder<Tables, 'heads', O>
  /**
   * The end of a query that runs after a lock, so that it reads what is committed now and not when the transaction
   * began.
   */
  readonly lockingRead: '' | ' lock in share mode'
  /**
   * Whether the transaction reads the snapshot of its first statement, also behind a lock that it waited for. Undefined where
   * a read behind a lock sees what is committed, or a transaction with an old snapshot cannot write.
   */
  readonly readsSnapshot?: RawBuilder<unknown>
  /** Returns a text of the forge in a form that can be compared with any column of the host. Undefined if every text can be. */
  anyCollation?(text: RawBuilder<unknown>): RawBuilder<unknown>
  /** A text of the host so that it is compared by its characters, whatever the collation of its column. */
  exactly(text: RawBuilder<unknown>): RawBuilder<unknown>
  /** The milliseconds since 1970 of a time of the host. A time without a zone is UTC. */
  milliseconds(time: RawBuilder<unknown>): RawBuilder<unknown>
  /**
   * The end of a select that keeps rows of the host from being removed until the transaction ends; empty if that happens by
   * itself when a row is added that refers to them.
   *
   * @param isConditional - whether rows that are changed may be hidden; then it keeps them from being changed too
   */
  lockReferred(isConditional: boolean): string
  /**
   * How the database removes forgelet's rows together with the host's rows that they refer to. Foreign keys: with the word
   * that drops one, what tools may have put before its name and, where a schema change cannot be rolled back, the prefix of a
   * statement that adds one without checking the rows. Triggers: where rebuilding a table would delete the rows that refer to it.
   */
  readonly follows:
    | { readonly by: 'triggers' }
    | {
        readonly by: 'keys'
        readonly dropped: string
        readonly renamed: readonly string[]
        readonly unchecked?: RawBuilder<unknown>
      }
  /** What refuses a member whom the organization blocks. */
  readonly fence: {
    /** Returns the names of its triggers. */
    names(name: string): readonly string[]
    create(fence: MemberFence): readonly RawBuilder<unknown>[]
    /** Removes it if it is there. */
    drop(fence: Pick<MemberFence, 'name' | 'schema'>): readonly RawBuilder<unknown>[]
  }
  /** The foreign keys and triggers in a schema whose names begin with the prefix, and the table that each refers to or is on. */
  keyNames(location: TableLocation): Statement<KeyName>
  /** Reads the columns of a table of the host; none if there is no such table. */
  hostColumns(table: HostTableName): Statement<HostColumn>
  /** Returns whether a key can refer to a column of the host from ours for ids of a type, without a change of its type. */
  isOwnType(ids: IdColumn, type: string): boolean
  /** Returns whether ids in a column of the host can be stored in the columns for ids of a type. */
  fitsType(ids: IdColumn, type: string): boolean
  /** Returns whether `milliseconds` understands what is in a column of the host. */
  isTime(type: string): boolean
  /** The condition that row-level security hides no row of a table of the host. Undefined if the database has none. */
  seesAllRows?(table: HostTableName): RawBuilder<SqlBool>
  /** The privileges on a table of the host that foreign keys and triggers need, by the names that `hostColumns` uses. */
  readonly privileges: { readonly keys: readonly string[]; readonly triggers: readonly string[] }
  /** Whether a view can be created in place of one with the same columns. Otherwise that is removed first. */
  readonly replacesViews: boolean
  /** The column that orders committed events: `id` if ids are assigned in order of commit. */
  readonly outboxOrder: 'id' | 'position'
  /**
   * Assigns to the events with these ids, a JSON list, the positions after `last`, in the order of the list. Finds them
   * by their key, so that it neither touches nor waits for an uncommitted row. Undefined if `outboxOrder` is `id`.
   */
  readonly numberEvents?: (
    build: Kysely<Tables>,
    ids: Expression<string>,
    last: Expression<number>,
  ) => Compilable<unknown>
  /** Removes the events with these ids, a JSON list. Finds them by their key, as `numberEvents` does. */
  removeEvents(build: Kysely<Tables>, ids: Expression<string>): Compilable<unknown>
  /** Whole milliseconds since 1970, by the database's clock. */
  readonly now: RawBuilder<number>
  /** The elements of a JSON list of texts, as rows of one column of this type. */
  elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string>
  /**
   * The rows of a query as one JSON list of objects with these columns. Undefined if a driver reads rows as fast as JSON.
   */
  readonly jsonRows?: (columns: readonly string[]) => RawBuilder<string>
  /** The tables and views in a schema with their columns, and its indexes: a row for each column, names in lower case. */
  columns(location: TableLocation): Statement<{ readonly table: string; readonly column: string }>
  /**
   * What shows that a view must be made again. Its text, or the tables that it reads: it stays with a table that is renamed. Or
   * that it cannot be read: it has the rights of a user who may be missing, as a trigger has.
   */
  readonly views:
    | { readonly by: 'texts'; find(location: TableLocation): Statement<{ readonly text: string }> }
    | { readonly by: 'tables'; find(location: TableLocation): Statement<KeyName> }
    | { readonly by: 'reading' }
  /**
   * Returns a statement that creates something as one that can be run again. Undefined unless every schema change commits
   * immediately.
   */
  readonly repeatable?: (sql: string) => string
  /** Creates a schema if it does not exist. Undefined if the database has no schemas. */
  readonly createSchema?: (schema: string) => SchemaStatement
  /** What is around a migration on a server. On SQLite, those who open a file begin and end the transaction. */
  readonly migration?: {
    /** Takes the lock. A statement that answers `busy` did not get it in time. */
    begin(location: TableLocation): readonly Statement<{ readonly lock: string }>[]
    /** Returns a statement with limits of its own for the waits for locks. */
    readonly limited?: (sql: string) => string
    readonly end: readonly Statement<unknown>[]
    readonly abandon: Statement<unknown>
    /** What keeps processes on other nodes of a cluster from migrating: the lock above is that of one node. */
    readonly lease?: {
      /** Returns a row where it is needed. */
      readonly needed: Statement<unknown>
      /** Takes it. The last statement answers `busy` if another node has it. */
      readonly take: readonly Statement<{ readonly lock: string }>[]
      readonly give: readonly Statement<unknown>[]
    }
  }
  /** How tables are copied to another database, as they are at one moment. */
  readonly copying: {
    /** Begins a transaction that reads the state of its beginning, and waits for as long as it must. */
    readonly begin: readonly Statement<unknown>[]
    readonly end: readonly Statement<unknown>[]
    /** Whether a comparison of several columns with several values finds its rows by their index. */
    readonly comparesRows: boolean
    /** What is behind the columns of an insert that gives the keys which the database assigns otherwise. */
    readonly givingKeys: RawBuilder<unknown>
    /** Reads the last key that the database has assigned in a table; 0 if none. */
    lastKey(table: HostTableName): Statement<{ readonly last: number }>
    /** Has the database assign only greater keys in a table. */
    assignAfter(table: HostTableName, last: number): readonly Statement<unknown>[]
  }
  /**
   * Finds the greatest key in a table if the database would assign it again: a logical replication copies rows, and no sequence.
   * Undefined where a row that comes with its key raises what is assigned.
   */
  overtaken?(table: HostTableName): Statement<{ readonly last: number }>
  /** Returns why the server accepts no changes, if it does not. */
  readonly readOnly?: Statement<{ readonly why: string }>
  /** Returns statements that belong together as a script to run by hand. */
  script(statements: readonly string[]): readonly string[]
}

/** A foreign key, trigger or view, and a table that it refers to, is on or reads. */
export interface KeyName {
  readonly name: string
  readonly on: string
  /** The schema of the table. */
  readonly schema: string
  /** 1 if the name of the table reaches it without the schema. */
  readonly isReached: number
}

/** A table of the host. */
export interface HostTableName {
  readonly table: string
  readonly schema?: string | undefined
}

/** A column of a table of the host. */
export interface HostColumn {
  readonly column: string
  /** The type, as the database writes it. */
  readonly type: string
  /** 1 if it alone is the primary key, or is unique alone. */
  readonly isUnique: number
  /** The privileges on the table and the column that the user lacks, with commas. */
  readonly lacks: string
  /** Why no foreign key can refer to the table: the end of a sentence. Empty if one can. */
  readonly misfit: string
  /** Why no trigger beside the tables of the forge sees the column of a new row: the end of a sentence. Empty if one does. */
  readonly untriggered: string
}

/** The table of the host's members, and what says whom an organization blocks. */
export interface MemberFence {
  /** The name of the trigger, or the beginning of the names of several. */
  readonly name: string
  /** The schema of the tables of the forge. */
  readonly schema: string | undefined
  readonly members: RawBuilder<unknown>
  /** The columns of the members. */
  readonly organization: RawBuilder<unknown>
  readonly user: RawBuilder<unknown>
  /** The condition which rows are memberships. Undefined: all. */
  readonly where: RawBuilder<unknown> | undefined
  readonly heads: RawBuilder<unknown>
  readonly blocks: RawBuilder<unknown>
  /** The columns of the blocks. */
  readonly blocked: { readonly organization: RawBuilder<unknown>; readonly user: RawBuilder<unknown> }
}

/** The type of a column that holds ids of the host. */
export type IdColumn = 'bigint' | 'uuid' | 'text'

/** Where our tables are. A schema has its own names; an undefined schema means the connection's own. */
export interface TableLocation {
  readonly schema: string | undefined
  readonly prefix: string
}

/** A statement that changes the schema. */
export interface SchemaStatement extends Statement<unknown> {
  /** The table, view or index that the statement creates, and its columns. An index has none. */
  readonly makes?: { readonly name: string; readonly columns: readonly string[] } | undefined
}

/** Compiles a statement that changes the schema. */
export function schemaStatement(query: Compilable<unknown>): SchemaStatement {
  return { ...compileStatement(query), mayTakeLong: true, makes: madeBy(query.compile().query) }
}

function madeBy(node: RootOperationNode): SchemaStatement['makes'] {
  switch (node.kind) {
    case 'CreateTableNode':
      return { name: node.table.table.identifier.name, columns: node.columns.map(({ column }) => column.column.name) }
    case 'CreateViewNode':
      return { name: node.name.identifier.name, columns: (node.columns ?? []).map(({ column }) => column.name) }
    case 'CreateIndexNode':
      return { name: node.name.name, columns: [] }
    default:
      return undefined
  }
}

/** Returns a dialect of Kysely that compiles queries to text, and never runs them. */
export function compilerOnly(adapter: DialectAdapter, createQueryCompiler: () => QueryCompiler): Dialect {
  return {
    createAdapter: () => adapter,
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database), // of any database: it is never used
    createQueryCompiler,
  }
}

/** Creates a statement from its text. It returns no rows. */
export function command(text: string): Statement<never> {
  return { sql: text, parameters: [], returnsRows: false }
}

/** Creates a statement that returns rows from its text. */
export function textQuery<Row>(text: string, parameters: readonly SqlValue[] = []): Statement<Row> {
  return { sql: text, parameters, returnsRows: true }
}
