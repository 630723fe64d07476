import type { Generated } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import type { HostThing } from '../../../schema/records.ts'

/**
 * `serial`: a key that the database assigns. `own id`: an id that we assign. `id of badges`: the id of a row of that table.
 * `user`, `issue` and so on: an id of the host, in the type of column that the host chose. `key`: a text that may be in a
 * key. A list: a `key` that is one of these. Times are integers: milliseconds since 1970.
 */
type BaseType = 'integer' | 'serial' | 'own id' | `id of ${string}` | 'key' | 'text' | HostThing

/** The type of a column: one that ends in `?` may be null. */
export type ColumnType = BaseType | `${BaseType}?` | readonly string[]

/** What a table is made of. Names of keys and indexes are without prefix. */
export interface TableDescription {
  readonly columns: Readonly<Record<string, ColumnType>>
  /** The columns of the primary key. Undefined: the serial column. */
  readonly key?: readonly string[] | undefined
  readonly unique?: { readonly name: string; readonly columns: readonly string[] }
  readonly indexes?: readonly TableIndex[]
}

/** What one of our tables is made of. */
interface OwnTable extends TableDescription {
  /** The version that creates it. 0: the ledger, which is there before there is a version. */
  readonly since: number
}

/** Returns the type of the values of a column: that of a list is `key`, that of a reference is `own id`. */
export function valueType(type: ColumnType): string {
  if (typeof type !== 'string') return 'key'
  return type.startsWith('id of ') ? 'own id' : type.replace('?', '')
}

/** An index, and which rows it contains if the database supports that. */
export interface TableIndex {
  readonly name: string
  readonly columns: readonly string[]
  readonly where?: readonly [column: string, test: 'is null' | 'is not null']
  readonly isUnique?: true
}

/**
 * Our tables, by name without prefix. The types of their rows follow. A column with ids of the host that is never null says
 * what a row is about: the row goes with that of the host (`host/keys.ts`). One that may be null says who acted.
 */
const TABLES = {
  /** One row: the version of the tables, the oldest library that can use them, and the types of the host's ids. */
  ledger: {
    since: 0,
    columns: { only: 'integer', version: 'integer', oldest_library: 'integer', ids: 'text' },
    key: ['only'],
  },
  /** One row: which tables of the host the tables of the forge follow, as JSON; empty if none. */
  host_tables: { since: 2, columns: { only: 'integer', tables: 'text' }, key: ['only'] },
  /** One row per aggregate: its lock. `next_seq` is the next position in its list; `total` counts the list. */
  heads: {
    since: 1,
    columns: {
      scope: 'key',
      key: 'key',
      version: 'integer',
      epoch: 'integer',
      /** 0 or 1. */
      retired: 'integer',
      total: 'integer',
      next_seq: 'integer',
    },
    key: ['scope', 'key'],
  },
  /** The pins: one row for each pinned issue. */
  board_pins: {
    since: 1,
    columns: {
      repository_id: 'repository',
      kind: ['issue', 'pullRequest'],
      position: 'integer',
      issue_id: 'issue',
      pinned_at: 'integer',
      pinned_by: 'user?',
    },
    key: ['repository_id', 'kind', 'position'],
    unique: { name: 'once', columns: ['issue_id', 'repository_id', 'kind'] },
  },
  /** The blocks by organizations; `seq` is their order. */
  organization_blocks: {
    since: 1,
    columns: {
      organization_id: 'organization',
      user_id: 'user',
      seq: 'integer',
      note: 'text',
      blocked_at: 'integer',
      blocked_by: 'user?',
    },
    key: ['organization_id', 'user_id'],
    unique: { name: 'order', columns: ['organization_id', 'seq'] },
    indexes: [{ name: 'user', columns: ['user_id', 'organization_id'] }],
  },
  /** The blocks by users; `seq` is their order. Its view is `user_blocks`. */
  blocks_by_users: {
    since: 2,
    columns: {
      blocker_id: 'user',
      user_id: 'user',
      seq: 'integer',
      note: 'text',
      blocked_at: 'integer',
      blocked_by: 'user?',
    },
    key: ['blocker_id', 'user_id'],
    unique: { name: 'order', columns: ['blocker_id', 'seq'] },
    indexes: [{ name: 'user', columns: ['user_id', 'blocker_id'] }],
  },
  /** The badge catalogue. */
  badges: {
    since: 1,
    columns: { id: 'own id', slug: 'key', description: 'text', image_url: 'text' },
    key: ['id'],
    unique: { name: 'slug', columns: ['slug'] },
  },
  /** The badges that users hold; `seq` is their order. */
  user_grants: {
    since: 1,
    columns: { user_id: 'user', badge_id: 'id of badges', seq: 'integer', granted_at: 'integer', granted_by: 'user?' },
    key: ['user_id', 'badge_id'],
    unique: { name: 'order', columns: ['user_id', 'seq'] },
    indexes: [{ name: 'badge', columns: ['badge_id', 'granted_at', 'user_id'] }],
  },
  /** `position` is the position in the outbox, null until it is assigned; unused where the id is the position. `data` is JSON. */
  events: {
    since: 1,
    columns: {
      id: 'serial',
      position: 'integer?',
      type: 'key',
      version: 'integer',
      at: 'integer',
      actor_id: 'user?',
      organization_id: 'organization?',
      repository_id: 'repository?',
      issue_id: 'issue?',
      user_id: 'user?',
      data: 'text',
    },
    indexes: [
      { name: 'issue', columns: ['issue_id', 'id'], where: ['issue_id', 'is not null'] },
      { name: 'organization', columns: ['organization_id', 'id'], where: ['organization_id', 'is not null'] },
      { name: 'repository', columns: ['repository_id', 'id'], where: ['repository_id', 'is not null'] },
      { name: 'user', columns: ['user_id', 'id'], where: ['user_id', 'is not null'] },
      { name: 'actor', columns: ['actor_id', 'id'], where: ['actor_id', 'is not null'] },
      { name: 'type', columns: ['type', 'id'] },
    ],
  },
  /** One row: the last assigned position, and the lowest position that may still be read from. */
  outbox: { since: 1, columns: { only: 'integer', last_position: 'integer', floor: 'integer' }, key: ['only'] },
  /** The consumers of the outbox, by name: the position each has processed, and the holder and end of its lease. */
  consumers: {
    since: 1,
    columns: { name: 'key', position: 'integer', holder: 'key?', until: 'integer' },
    key: ['name'],
  },
} as const

/** The rows of our tables. Ids are text here, because every query casts them. */
export type Tables = {
  readonly [T in keyof typeof TABLES]: {
    readonly [C in keyof (typeof TABLES)[T]['columns']]: Value<(typeof TABLES)[T]['columns'][C]>
  }
}

type Value<Type> = Type extends readonly (infer Choice)[]
  ? Choice
  : Type extends `${infer T}?`
    ? Value<T> | null
    : Type extends 'integer'
      ? number
      : Type extends 'serial'
        ? Generated<Id>
        : string

/** What heads lock, each with the thing of the host that it belongs to, and with which it is retired. */
export const HEAD_SCOPES = {
  user: 'user',
  organization: 'organization',
  userBlocks: 'user',
  issueBoard: 'repository',
  pullRequestBoard: 'repository',
  issueImports: 'repository',
  issue: 'issue',
  catalogue: undefined,
} as const

/** What a head locks. */
export type HeadScope = keyof typeof HEAD_SCOPES

/** Our tables, by name without prefix, in the order in which they can be created. */
export const TABLE_DESCRIPTIONS: Readonly<Record<keyof Tables, OwnTable>> = TABLES
