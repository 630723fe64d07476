import type { AliasedRawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { SqlContext } from '../../../src/storage/sql/context.ts'
import { createTableContext } from '../../../src/storage/sql/context.ts'
import type { TableDescription, Tables } from '../../../src/storage/sql/schema/tables.ts'
import { valueType } from '../../../src/storage/sql/schema/tables.ts'

/** The host's own tables, by name without prefix, in the order in which they are created. Flags are integers, 0 or 1. */
const TABLES = {
  /** Users and organizations, which share one namespace. */
  accounts: {
    columns: {
      id: 'serial',
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
    unique: { name: 'name', columns: ['folded_name'] },
  },
  /** Access tokens: only the SHA-256 in hexadecimal. Those of a fixture have neither name nor time. */
  tokens: {
    columns: { digest: 'key', user_id: 'id of accounts', name: 'text?', created_at: 'integer?' },
    key: ['digest'],
    indexes: [{ name: 'user', columns: ['user_id'] }],
  },
  members: {
    columns: { organization_id: 'id of accounts', user_id: 'id of accounts', role: ['owner', 'member'] },
    key: ['organization_id', 'user_id'],
  },
  repositories: {
    columns: {
      id: 'serial',
      owner_id: 'id of accounts',
      name: 'key',
      folded_name: 'key',
      description: 'text',
      is_private: 'integer',
      is_archived: 'integer',
      default_branch: 'text',
      created_at: 'integer',
    },
    unique: { name: 'name', columns: ['owner_id', 'folded_name'] },
  },
  collaborators: {
    columns: { repository_id: 'id of repositories', user_id: 'id of accounts', role: ['admin', 'writer', 'reader'] },
    key: ['repository_id', 'user_id'],
  },
  /** `record` is a `LabelRecord` as JSON, `name` its name. */
  labels: {
    columns: { id: 'serial', repository_id: 'id of repositories', name: 'text', record: 'text' },
    indexes: [{ name: 'repository', columns: ['repository_id'] }],
  },
  /** `record` is a `MilestoneRecord` as JSON, `name` its title. */
  milestones: {
    columns: { id: 'serial', repository_id: 'id of repositories', name: 'text', record: 'text' },
    indexes: [{ name: 'repository', columns: ['repository_id'] }],
  },
  /**
   * Issues and pull requests. `record` is a `StoredIssue` as JSON. The other columns are what is looked up, counted or
   * joined.
   */
  issues: {
    columns: {
      id: 'serial',
      repository_id: 'id of repositories',
      number: 'integer',
      kind: ['issue', 'pullRequest'],
      state: ['open', 'closed'],
      /** The author, or who imported the issue, or the owner of the repository. */
      poster_id: 'id of accounts',
      milestone_id: 'id of milestones?',
      comment_count: 'integer',
      /** The source branch of a pull request; `""` for an issue. */
      branch: 'text',
      record: 'text',
    },
    unique: { name: 'number', columns: ['repository_id', 'number'] },
    // What is open in a repository and in a milestone is counted for every list of issues.
    indexes: [
      { name: 'state', columns: ['repository_id', 'state', 'kind'] },
      { name: 'milestone', columns: ['milestone_id', 'state'] },
    ],
  },
  /** `record` is a `StoredComment` as JSON. */
  comments: {
    columns: {
      id: 'serial',
      repository_id: 'id of repositories',
      issue_number: 'integer',
      created_at: 'integer',
      record: 'text',
    },
    indexes: [{ name: 'issue', columns: ['repository_id', 'issue_number'] }],
  },
} as const

/** A table of the host. */
export type TableName = keyof typeof TABLES

/** A row of a table. Every query reads integers so that they are numbers. */
export type Row<T extends TableName> = {
  readonly [C in keyof (typeof TABLES)[T]['columns']]: Value<(typeof TABLES)[T]['columns'][C]>
}

type Value<Type> = Type extends readonly (infer Choice)[]
  ? Choice
  : Type extends 'key' | 'text'
    ? string
    : Type extends `${infer T}?`
      ? Value<T> | null
      : number

/** A row that is inserted: the database assigns its id. */
export type NewRow<T extends TableName> = Omit<Row<T>, 'id'>

/** The host's tables, and the ledger that has their version. */
type HostTables = { readonly [T in TableName]: Row<T> } & Pick<Tables, 'ledger'>

/** What the host's queries are built with. */
export type HostContext = SqlContext<HostTables>

/** The tables with all that their description may have. */
export const HOST_TABLES: Readonly<Record<TableName, TableDescription>> = TABLES

/** The prefix of the forge's tables if no other is chosen. The host's tables begin with `host_` then. */
const STANDARD_PREFIX = 'forgelet_'

/** Creates the context of the host's tables beside those of a forge: with another prefix, both have it. */
export function hostContext({ dialect, schema, prefix }: SqlContext): HostContext {
  const own = prefix === STANDARD_PREFIX ? 'host_' : `${prefix}host_`
  const tables = ['ledger', ...Object.keys(HOST_TABLES)]
  return createTableContext<HostTables>(dialect, { schema, prefix: own }, tables)
}

/** A column of a table as a query selects it. */
export type Selected<T extends TableName> = {
  [C in keyof Row<T> & string]: AliasedRawBuilder<Row<T>[C], C>
}[keyof Row<T> & string]

/** Selects all columns of a table. */
export function columnsOf<T extends TableName>(context: HostContext, table: T): readonly Selected<T>[]
export function columnsOf({ columns }: HostContext, table: TableName): readonly AliasedRawBuilder<unknown, string>[] {
  return Object.entries(HOST_TABLES[table].columns).map(([name, type]) => {
    const column = `${table}.${name}`
    const isText = ['key', 'text'].includes(valueType(type))
    return isText ? sql.ref(column).as(name) : columns.number(column).as(name)
  })
}

/** The names of the columns that an insert names. */
export function writtenColumns(table: TableName): readonly string[] {
  return Object.keys(HOST_TABLES[table].columns).filter((name) => name !== 'id')
}

/** Whether the database assigns an id to each row. */
export function isNumbered(table: TableName): boolean {
  return 'id' in HOST_TABLES[table].columns
}
