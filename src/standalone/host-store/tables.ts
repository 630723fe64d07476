import type { AliasedRawBuilder, Compilable, CreateTableBuilder, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { SqlContext } from '../../storage/sql/context.ts'
import { createTableContext } from '../../storage/sql/context.ts'
import type { SchemaStatement } from '../../storage/sql/dialect.ts'
import { schemaStatement } from '../../storage/sql/dialect.ts'

/**
 * What a column holds. `id`: a key that the database assigns. A name of a table: an id of it. `key`: a short text, which
 * may be in an index. A list: a `key` that is one of these. Flags are integers, 0 or 1, and so are times, in milliseconds
 * since 1970. A type that ends in `?` may be null.
 */
type BaseType = 'id' | 'integer' | 'key' | 'text' | 'accounts' | 'repositories' | 'milestones'
type ColumnType = BaseType | `${BaseType}?` | readonly string[]

interface TableDescription {
  readonly columns: Readonly<Record<string, ColumnType>>
  /** The columns of the primary key. Default: `id`. Empty: the table has none. */
  readonly key?: readonly string[]
  readonly unique?: readonly string[]
  readonly indexes?: readonly (readonly string[])[]
}

/**
 * The host's own tables, by name without prefix, in the order in which they are created. The version comes first: it marks
 * the tables as the host's.
 */
const TABLES = {
  /** One row: the version of the tables, and the oldest release that can use them, by the version that it knows. */
  schema: { columns: { version: 'integer', oldest_library: 'integer' }, key: [] },
  /** Users and organizations, which share one namespace. */
  accounts: {
    columns: {
      id: 'id',
      kind: ['user', 'organization'],
      name: 'key',
      /** The name as names are compared. */
      folded_name: 'key',
      full_name: 'text',
      email: 'text',
      hides_email: 'integer',
      is_site_admin: 'integer',
      visibility: ['public', 'limited', 'private'],
      location: 'text',
      website: 'text',
      description: 'text',
      created_at: 'integer',
    },
    unique: ['folded_name'],
  },
  /** Access tokens: only the SHA-256 in hexadecimal. Those of a fixture have neither name nor time. */
  tokens: {
    columns: { digest: 'key', user_id: 'accounts', name: 'text?', created_at: 'integer?' },
    key: ['digest'],
    indexes: [['user_id']],
  },
  members: {
    columns: { organization_id: 'accounts', user_id: 'accounts', role: ['owner', 'member'] },
    key: ['organization_id', 'user_id'],
  },
  repositories: {
    columns: {
      id: 'id',
      owner_id: 'accounts',
      name: 'key',
      folded_name: 'key',
      description: 'text',
      is_private: 'integer',
      is_archived: 'integer',
      default_branch: 'text',
      created_at: 'integer',
    },
    unique: ['owner_id', 'folded_name'],
  },
  collaborators: {
    columns: { repository_id: 'repositories', user_id: 'accounts', role: ['admin', 'writer', 'reader'] },
    key: ['repository_id', 'user_id'],
  },
  /** `record` is a `LabelRecord` as JSON, `name` its name. */
  labels: {
    columns: { id: 'id', repository_id: 'repositories', name: 'text', record: 'text' },
    indexes: [['repository_id']],
  },
  /** `record` is a `MilestoneRecord` as JSON, `name` its title. */
  milestones: {
    columns: { id: 'id', repository_id: 'repositories', name: 'text', record: 'text' },
    indexes: [['repository_id']],
  },
  /**
   * Issues and pull requests. `record` is a `StoredIssue` as JSON. The other columns are what is looked up, counted or
   * joined.
   */
  issues: {
    columns: {
      id: 'id',
      repository_id: 'repositories',
      number: 'integer',
      kind: ['issue', 'pullRequest'],
      state: ['open', 'closed'],
      /** The author, or who imported the issue, or the owner of the repository. */
      poster_id: 'accounts',
      milestone_id: 'milestones?',
      comment_count: 'integer',
      /** The source branch of a pull request; `""` for an issue. */
      branch: 'text',
      record: 'text',
    },
    unique: ['repository_id', 'number'],
    // What is open in a repository and in a milestone is counted for every list of issues.
    indexes: [
      ['repository_id', 'state', 'kind'],
      ['milestone_id', 'state'],
    ],
  },
  /** `record` is a `StoredComment` as JSON. */
  comments: {
    columns: {
      id: 'id',
      repository_id: 'repositories',
      issue_number: 'integer',
      created_at: 'integer',
      record: 'text',
    },
    indexes: [['repository_id', 'issue_number']],
  },
} as const

/** A table of the host. */
export type TableName = keyof typeof TABLES

/** The rows of the host's tables. Every query reads integers so that they are numbers. */
export type HostTables = {
  readonly [T in TableName]: {
    readonly [C in keyof (typeof TABLES)[T]['columns']]: Value<(typeof TABLES)[T]['columns'][C]>
  }
}

type Value<Type> = Type extends readonly (infer Choice)[]
  ? Choice
  : Type extends 'key' | 'text'
    ? string
    : Type extends `${infer T}?`
      ? Value<T> | null
      : number

/** A row of a table. */
export type Row<T extends TableName> = HostTables[T]

/** A row that is inserted: the database assigns its id. */
export type NewRow<T extends TableName> = Omit<Row<T>, 'id'>

/** What the host's queries are built with. */
export type HostContext = SqlContext<HostTables>

const DESCRIPTIONS: Readonly<Record<TableName, TableDescription>> = TABLES

/** The names of all tables. */
export const HOST_TABLES: readonly TableName[] = tableNames(DESCRIPTIONS)

/** The version of the tables. A release that adds to them raises it. */
export const HOST_VERSION = 1

/** The oldest release that can use the tables, by the version that it knows. */
export const OLDEST_LIBRARY = 1

/** The prefix of the forge's tables if no other is chosen. The host's tables begin with `host_` then. */
const STANDARD_PREFIX = 'forgelet_'

/** Creates the context of the host's tables beside those of a forge: with another prefix, both have it. */
export function hostContext({ dialect, schema, prefix }: SqlContext): HostContext {
  const own = prefix === STANDARD_PREFIX ? 'host_' : `${prefix}host_`
  return createTableContext<HostTables>(dialect, { schema, prefix: own, tables: HOST_TABLES })
}

/** The statements that create the tables and their indexes. They never change once released. */
export function firstTables(context: HostContext): readonly SchemaStatement[] {
  return HOST_TABLES.flatMap((name) => tableStatements(context, name)).map(schemaStatement)
}

function tableStatements({ build, prefix, dialect }: HostContext, table: TableName): readonly Compilable<unknown>[] {
  const { columns, key, unique, indexes = [] } = DESCRIPTIONS[table]
  let create: CreateTableBuilder<string, string> = build.schema.createTable(table)
  for (const [name, type] of Object.entries(columns)) {
    create = create.addColumn(name, typeOf(dialect, type), (column) => {
      if (type === 'id') return dialect.serialKey(column)
      const target = tableOf(type)
      const made = target === undefined ? column : column.references(`${target}.id`)
      return isNullable(type) ? made : made.notNull()
    })
  }
  if (key !== undefined && key.length > 0) create = create.addPrimaryKeyConstraint(`${prefix}${table}_pk`, [...key])
  if (unique !== undefined) create = create.addUniqueConstraint(`${prefix}${table}_unique`, [...unique])
  const index = (names: readonly string[]) =>
    build.schema
      .createIndex(`${prefix}${table}_${names.join('_')}`)
      .on(table)
      .columns([...names])
  return [create.modifyEnd(dialect.tableEnd), ...indexes.map(index)]
}

function typeOf({ types }: HostContext['dialect'], type: ColumnType): RawBuilder<unknown> {
  if (typeof type !== 'string') return types.key
  const base = type.replace('?', '')
  return base === 'key' || base === 'text' ? types[base] : types.integer
}

/** Returns the table to which a column refers. */
function tableOf(type: ColumnType): string | undefined {
  return typeof type === 'string' ? HOST_TABLES.find((name) => type.replace('?', '') === name) : undefined
}

function isNullable(type: ColumnType): boolean {
  return typeof type === 'string' && type.endsWith('?')
}

function isNumber(type: ColumnType): boolean {
  return typeof type === 'string' && !/^(key|text)\b/.test(type)
}

/** A column of a table as a query selects it. */
export type Selected<T extends TableName> = {
  [C in keyof Row<T> & string]: AliasedRawBuilder<Row<T>[C], C>
}[keyof Row<T> & string]

/** Selects all columns of a table. */
export function columnsOf<T extends TableName>(context: HostContext, table: T): readonly Selected<T>[]
export function columnsOf({ columns }: HostContext, table: TableName): readonly AliasedRawBuilder<unknown, string>[] {
  return Object.entries(DESCRIPTIONS[table].columns).map(([name, type]) => {
    const column = `${table}.${name}`
    return isNumber(type) ? columns.number(column).as(name) : sql.ref(column).as(name)
  })
}

/** The names of the columns that an insert names. */
export function writtenColumns(table: TableName): readonly string[] {
  return Object.keys(DESCRIPTIONS[table].columns).filter((name) => name !== 'id')
}

/** Whether the database assigns an id to each row. */
export function isNumbered(table: TableName): boolean {
  return 'id' in DESCRIPTIONS[table].columns
}

function tableNames<T extends object>(tables: T): readonly (keyof T & string)[] {
  const names: (keyof T & string)[] = []
  for (const name in tables) names.push(name)
  return names
}
