import type { ColumnDefinitionBuilder, Compilable, Generated } from 'kysely'
import { sql } from 'kysely'
import type { Id, PinKind } from '../../index.ts'
import type { SqlContext } from '../../storage/sql/context.ts'
import { createTableContext } from '../../storage/sql/context.ts'
import type { FixtureVisibility } from '../fixture/fixture.ts'
import type { CollaboratorRole } from '../fixture/seed.ts'
import type { ExchangeIssueColumns, ExchangeTables } from './exchange-tables.ts'
import { exchangeTables, milestoneOffsets } from './exchange-tables.ts'

/**
 * The host's own tables, by name without prefix. The host assigns the ids; they are integers, and text here, because
 * every query casts them. Flags are 0 or 1, times are in milliseconds.
 */
export interface HostTables extends ExchangeTables {
  /** One row: the version of the tables, and the oldest release that can use them, by the version that it knows. */
  readonly schema: { readonly version: number; readonly oldest_library: number }
  readonly accounts: {
    readonly id: Id
    readonly kind: 'user' | 'organization'
    readonly name: string
    readonly folded_name: string
    readonly full_name: string
    readonly email: string
    readonly hides_email: number
    readonly is_site_admin: number
    readonly visibility: FixtureVisibility
    readonly location: string
    readonly website: string
    readonly description: string
    readonly created_at: number
  }
  /** A release that does not know `name` and `created_at` leaves them null. */
  readonly tokens: {
    readonly digest: string
    readonly user_id: Id
    readonly name: Generated<string | null>
    readonly created_at: Generated<number | null>
  }
  readonly members: { readonly organization_id: Id; readonly user_id: Id; readonly role: 'owner' | 'member' }
  readonly repositories: {
    readonly id: Id
    readonly owner_id: Id
    readonly name: string
    readonly folded_name: string
    readonly description: string
    readonly is_private: number
    readonly is_archived: number
    readonly default_branch: string
    readonly created_at: number
  }
  readonly collaborators: { readonly repository_id: Id; readonly user_id: Id; readonly role: CollaboratorRole }
  readonly labels: {
    readonly id: Id
    readonly repository_id: Id
    readonly name: string
    readonly color: string
    readonly description: string
  }
  readonly issues: {
    readonly id: Id
    readonly repository_id: Id
    readonly issue_index: number
    readonly kind: PinKind
    readonly title: string
    readonly body: string
    readonly poster_id: Id
    readonly state: 'open' | 'closed'
    readonly is_locked: number
    readonly branch: string
    readonly comment_count: number
    readonly created_at: number
    readonly updated_at: number
    readonly closed_at: number | null
  } & ExchangeIssueColumns
  readonly issue_labels: { readonly issue_id: Id; readonly place: number; readonly label_id: Id }
  readonly issue_assignees: { readonly issue_id: Id; readonly place: number; readonly user_id: Id }
}

/** What the host's queries are built with. */
export type HostContext = SqlContext<HostTables>

/** The names of the tables, without prefix. The version comes first: it marks the tables as the host's. */
export const HOST_TABLES: readonly (keyof HostTables)[] = [
  'schema',
  'accounts',
  'tokens',
  'members',
  'repositories',
  'collaborators',
  'labels',
  'issues',
  'issue_labels',
  'issue_assignees',
  'milestones',
  'issue_assignee_names',
  'issue_reactions',
  'comments',
  'comment_reactions',
  'deleted_issues',
]

/** The prefix of the forge's tables if no other is chosen. The host's tables begin with `host_` then. */
const STANDARD_PREFIX = 'forgelet_'

/** Creates the context of the host's tables beside those of a forge: with another prefix, both have it. */
export function hostContext({ dialect, schema, prefix }: SqlContext): HostContext {
  const own = prefix === STANDARD_PREFIX ? 'host_' : `${prefix}host_`
  return createTableContext<HostTables>(dialect, { schema, prefix: own, tables: HOST_TABLES })
}

type Ddl = readonly Compilable<unknown>[]

/** The statements of each version of the tables. They never change once released. */
export const HOST_MIGRATIONS: readonly ((context: HostContext) => Ddl)[] = [
  firstTables,
  exchangeTables,
  oldestLibrary,
  tokenColumns,
  milestoneOffsets,
]

/**
 * The oldest release that can use the tables after the last step, by the version that it knows. A step that does more
 * than add raises it to its own version.
 */
export const OLDEST_LIBRARY = 1

const notNull = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull()

function firstTables({ build, prefix, dialect: { types, tableEnd } }: HostContext): Ddl {
  const key = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.primaryKey().notNull()
  const of =
    (table: 'accounts' | 'repositories' | 'labels' | 'issues') =>
    (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
      column.notNull().references(`${table}.id`)

  return [
    build.schema
      .createTable('accounts')
      .addColumn('id', types.integer, key)
      .addColumn('kind', types.key, notNull)
      .addColumn('name', types.key, notNull)
      .addColumn('folded_name', types.key, notNull)
      .addColumn('full_name', types.text, notNull)
      .addColumn('email', types.text, notNull)
      .addColumn('hides_email', types.integer, notNull)
      .addColumn('is_site_admin', types.integer, notNull)
      .addColumn('visibility', types.key, notNull)
      .addColumn('location', types.text, notNull)
      .addColumn('website', types.text, notNull)
      .addColumn('description', types.text, notNull)
      .addColumn('created_at', types.integer, notNull)
      .addUniqueConstraint(`${prefix}accounts_name`, ['folded_name']),
    build.schema
      .createTable('tokens')
      .addColumn('digest', types.key, key)
      .addColumn('user_id', types.integer, of('accounts')),
    build.schema
      .createTable('members')
      .addColumn('organization_id', types.integer, of('accounts'))
      .addColumn('user_id', types.integer, of('accounts'))
      .addColumn('role', types.key, notNull)
      .addPrimaryKeyConstraint(`${prefix}members_pk`, ['organization_id', 'user_id']),
    build.schema
      .createTable('repositories')
      .addColumn('id', types.integer, key)
      .addColumn('owner_id', types.integer, of('accounts'))
      .addColumn('name', types.key, notNull)
      .addColumn('folded_name', types.key, notNull)
      .addColumn('description', types.text, notNull)
      .addColumn('is_private', types.integer, notNull)
      .addColumn('is_archived', types.integer, notNull)
      .addColumn('default_branch', types.text, notNull)
      .addColumn('created_at', types.integer, notNull)
      .addUniqueConstraint(`${prefix}repositories_name`, ['owner_id', 'folded_name']),
    build.schema
      .createTable('collaborators')
      .addColumn('repository_id', types.integer, of('repositories'))
      .addColumn('user_id', types.integer, of('accounts'))
      .addColumn('role', types.key, notNull)
      .addPrimaryKeyConstraint(`${prefix}collaborators_pk`, ['repository_id', 'user_id']),
    build.schema
      .createTable('labels')
      .addColumn('id', types.integer, key)
      .addColumn('repository_id', types.integer, of('repositories'))
      .addColumn('name', types.text, notNull)
      .addColumn('color', types.key, notNull)
      .addColumn('description', types.text, notNull),
    build.schema
      .createTable('issues')
      .addColumn('id', types.integer, key)
      .addColumn('repository_id', types.integer, of('repositories'))
      .addColumn('issue_index', types.integer, notNull)
      .addColumn('kind', types.key, notNull)
      .addColumn('title', types.text, notNull)
      .addColumn('body', types.text, notNull)
      .addColumn('poster_id', types.integer, of('accounts'))
      .addColumn('state', types.key, notNull)
      .addColumn('is_locked', types.integer, notNull)
      .addColumn('branch', types.text, notNull)
      .addColumn('comment_count', types.integer, notNull)
      .addColumn('created_at', types.integer, notNull)
      .addColumn('updated_at', types.integer, notNull)
      .addColumn('closed_at', types.integer)
      .addUniqueConstraint(`${prefix}issues_index`, ['repository_id', 'issue_index']),
    build.schema
      .createTable('issue_labels')
      .addColumn('issue_id', types.integer, of('issues'))
      .addColumn('place', types.integer, notNull)
      .addColumn('label_id', types.integer, of('labels'))
      .addPrimaryKeyConstraint(`${prefix}issue_labels_pk`, ['issue_id', 'place']),
    build.schema
      .createTable('issue_assignees')
      .addColumn('issue_id', types.integer, of('issues'))
      .addColumn('place', types.integer, notNull)
      .addColumn('user_id', types.integer, of('accounts'))
      .addPrimaryKeyConstraint(`${prefix}issue_assignees_pk`, ['issue_id', 'place']),
  ].map((table) => table.modifyEnd(tableEnd))
}

/** From this version on, a release knows whether it can use tables of a newer one. */
function oldestLibrary({ build, dialect: { types } }: HostContext): Ddl {
  const column = (one: ColumnDefinitionBuilder): ColumnDefinitionBuilder => one.notNull().defaultTo(sql.lit(1))
  return [build.schema.alterTable('schema').addColumn('oldest_library', types.integer, column)]
}

/** Names and times of tokens. */
function tokenColumns({ build, dialect: { types } }: HostContext): Ddl {
  const tokens = build.schema.alterTable('tokens')
  return [tokens.addColumn('name', types.text), tokens.addColumn('created_at', types.integer)]
}
