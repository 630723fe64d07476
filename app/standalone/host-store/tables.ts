/**
 * `one`: the integer 1. `serial`: an id that the database assigns. `id of accounts`: that of a row of the table. `key`: a text that is part of a key. A
 * list: a `key` that is one of these. A type that ends in `?` may be null.
 */
type BaseType = 'integer' | 'one' | 'serial' | `id of ${string}` | 'key' | 'text'
/** The type of a column. */
export type ColumnType = BaseType | `${BaseType}?` | readonly string[]

/** What a table is made of. Names of keys and indexes are without prefix. */
export interface TableDescription {
  readonly columns: Readonly<Record<string, ColumnType>>
  /** The columns of the primary key. Undefined: the serial column. */
  readonly key?: readonly string[]
  readonly unique?: { readonly name: string; readonly columns: readonly string[] }
  readonly indexes?: readonly { readonly name: string; readonly columns: readonly string[] }[]
}

/** The host's own tables, by name without prefix, in the order in which they are created. Flags are integers, 0 or 1. */
const TABLES = {
  /** One row: the version of the tables, the oldest version of a release that can use them, and the types of ids. */
  ledger: {
    columns: { only: 'one', version: 'integer', oldest_library: 'integer', ids: 'text' },
    key: ['only'],
  },
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

/** The tables with all that their description may have. */
export const HOST_TABLES: Readonly<Record<TableName, TableDescription>> = TABLES

/** Whether a column has texts: the others have integers. */
export function isText(type: ColumnType): boolean {
  return typeof type !== 'string' || /^(key|text)/.test(type)
}
