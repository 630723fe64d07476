import type { ColumnDefinitionBuilder, Compilable, CreateViewBuilder } from 'kysely'
import { sql } from 'kysely'
import type { SqlContext } from '../context.ts'
import type { SchemaStatement } from '../dialect.ts'
import { schemaStatement } from '../dialect.ts'
import type { Tables } from './tables.ts'

type Ddl = readonly Compilable<unknown>[]

/** The statements that create each table, with its indexes and first rows. */
const TABLES: Readonly<Record<Exclude<keyof Tables, 'ledger'>, (context: SqlContext) => Ddl>> = {
  heads,
  board_pins: boardPins,
  issue_tombstones: issueTombstones,
  organization_blocks: organizationBlocks,
  badges,
  user_grants: userGrants,
  events,
  outbox,
  consumers,
}

/** The tables, indexes and views of version 1. They never change once released. */
export function firstVersion(context: SqlContext): readonly SchemaStatement[] {
  return [
    ...Object.values(TABLES)
      .flatMap((table) => table(context))
      .map(schemaStatement),
    ...context.dialect.eventNumbering(context.prefix),
    ...views(context).map(schemaStatement),
  ]
}

/** The ledger, and its row: the types of the host's ids, and version 0 until the tables are made. */
export function ledger({ build, ids, dialect: { types, tableEnd } }: SqlContext): readonly SchemaStatement[] {
  const { user, organization, repository, issue } = ids.columns
  const values = sql.join([1, 0, 0, user, organization, repository, issue].map((value) => sql.lit(value)))
  return [
    build.schema
      .createTable('ledger')
      .addColumn('only', types.integer, (column) => column.primaryKey().check(sql`${sql.ref('only')} = 1`))
      .addColumn('version', types.integer, notNull)
      .addColumn('oldest_library', types.integer, notNull)
      .addColumn('user_ids', types.key, notNull)
      .addColumn('organization_ids', types.key, notNull)
      .addColumn('repository_ids', types.key, notNull)
      .addColumn('issue_ids', types.key, notNull)
      .modifyEnd(tableEnd),
    build
      .insertInto('ledger')
      .columns(['only', 'version', 'oldest_library', 'user_ids', 'organization_ids', 'repository_ids', 'issue_ids'])
      .expression(sql`select ${values} where not exists (select * from ${sql.table('ledger')})`),
  ].map(schemaStatement)
}

const notNull = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull()

function heads({ build, prefix, dialect: { types, keyedTableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('heads')
      .addColumn('scope', types.key, notNull)
      .addColumn('key', types.key, notNull)
      .addColumn('version', types.integer, notNull)
      .addColumn('epoch', types.integer, notNull)
      .addColumn('retired', types.integer, notNull)
      .addColumn('total', types.integer, notNull)
      .addColumn('next_seq', types.integer, notNull)
      .addPrimaryKeyConstraint(`${prefix}heads_pk`, ['scope', 'key'])
      .modifyEnd(keyedTableEnd),
  ]
}

function boardPins({ build, prefix, ids, dialect: { types, keyedTableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('board_pins')
      .addColumn('repository_id', ids.type('repository'), notNull)
      .addColumn('kind', types.key, notNull)
      .addColumn('position', types.integer, notNull)
      .addColumn('issue_id', ids.type('issue'), notNull)
      .addColumn('pinned_at', types.integer, notNull)
      .addColumn('pinned_by', ids.type('user'))
      .addPrimaryKeyConstraint(`${prefix}board_pins_pk`, ['repository_id', 'kind', 'position'])
      .addUniqueConstraint(`${prefix}board_pins_once`, ['issue_id', 'repository_id', 'kind'])
      .modifyEnd(keyedTableEnd),
  ]
}

function issueTombstones({ build, ids, dialect: { tableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('issue_tombstones')
      .addColumn('issue_id', ids.type('issue'), (column) => column.primaryKey().notNull())
      .modifyEnd(tableEnd),
  ]
}

function organizationBlocks({ build, prefix, ids, dialect: { types, keyedTableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('organization_blocks')
      .addColumn('organization_id', ids.type('organization'), notNull)
      .addColumn('user_id', ids.type('user'), notNull)
      .addColumn('seq', types.integer, notNull)
      .addColumn('note', types.text, notNull)
      .addColumn('blocked_at', types.integer, notNull)
      .addColumn('blocked_by', ids.type('user'))
      .addPrimaryKeyConstraint(`${prefix}organization_blocks_pk`, ['organization_id', 'user_id'])
      .addUniqueConstraint(`${prefix}organization_blocks_order`, ['organization_id', 'seq'])
      .modifyEnd(keyedTableEnd),
    build.schema
      .createIndex(`${prefix}organization_blocks_user`)
      .on('organization_blocks')
      .columns(['user_id', 'organization_id']),
  ]
}

function badges({ build, prefix, dialect: { types, tableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('badges')
      .addColumn('id', types.integer, (column) => column.primaryKey())
      .addColumn('slug', types.key, notNull)
      .addColumn('description', types.text, notNull)
      .addColumn('image_url', types.text, notNull)
      .addUniqueConstraint(`${prefix}badges_slug`, ['slug'])
      .modifyEnd(tableEnd),
  ]
}

function userGrants({ build, prefix, ids, dialect: { types, keyedTableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('user_grants')
      .addColumn('user_id', ids.type('user'), notNull)
      .addColumn('badge_id', types.integer, notNull)
      .addColumn('seq', types.integer, notNull)
      .addColumn('granted_at', types.integer, notNull)
      .addColumn('granted_by', ids.type('user'))
      .addPrimaryKeyConstraint(`${prefix}user_grants_pk`, ['user_id', 'badge_id'])
      .addUniqueConstraint(`${prefix}user_grants_order`, ['user_id', 'seq'])
      .addForeignKeyConstraint(`${prefix}user_grants_badge`, ['badge_id'], 'badges', ['id'])
      .modifyEnd(keyedTableEnd),
    build.schema.createIndex(`${prefix}user_grants_badge`).on('user_grants').column('badge_id'),
  ]
}

function events({ build, prefix, ids, dialect }: SqlContext): Ddl {
  const { types, tableEnd, serialKey, partialIndexes, outboxOrder } = dialect
  const subjects = ['issue_id', 'organization_id', 'repository_id', 'user_id', 'actor_id'] as const
  const index = (name: string, columns: readonly ('position' | 'type' | 'id' | (typeof subjects)[number])[]) =>
    build.schema
      .createIndex(`${prefix}events_${name}`)
      .on('events')
      .columns([...columns])

  return [
    build.schema
      .createTable('events')
      .addColumn('id', types.integer, serialKey)
      .addColumn('position', types.integer)
      .addColumn('type', types.key, notNull)
      .addColumn('version', types.integer, notNull)
      .addColumn('at', types.integer, notNull)
      .addColumn('actor_id', ids.type('user'))
      .addColumn('organization_id', ids.type('organization'))
      .addColumn('repository_id', ids.type('repository'))
      .addColumn('issue_id', ids.type('issue'))
      .addColumn('user_id', ids.type('user'))
      .addColumn('data', types.text, notNull)
      .modifyEnd(tableEnd),
    ...subjects.map((subject) => {
      const bySubject = index(subject.replace('_id', ''), [subject, 'id'])
      return partialIndexes ? bySubject.where(subject, 'is not', null) : bySubject
    }),
    index('type', ['type', 'id']),
    // Where ids are in order of commit, they are the order. The id as second column finds the first events without a position.
    ...(outboxOrder === 'id' || partialIndexes ? [] : [index('position', ['position', 'id'])]),
    ...(outboxOrder === 'id' || !partialIndexes
      ? []
      : [index('position', ['position']).unique(), index('unnumbered', ['id']).where('position', 'is', null)]),
  ]
}

function outbox({ build, dialect: { types, tableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('outbox')
      .addColumn('only', types.integer, (column) => column.primaryKey().check(sql`${sql.ref('only')} = 1`))
      .addColumn('last_position', types.integer, notNull)
      .addColumn('floor', types.integer, notNull)
      .modifyEnd(tableEnd),
    build
      .insertInto('outbox')
      .columns(['only', 'last_position', 'floor'])
      .expression(sql`select 1, 0, 0 where not exists (select * from ${sql.table('outbox')})`),
  ]
}

function consumers({ build, dialect: { types, keyedTableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('consumers')
      .addColumn('name', types.key, (column) => column.primaryKey().notNull())
      .addColumn('position', types.integer, notNull)
      .addColumn('holder', types.key)
      .addColumn('until', types.integer, notNull)
      .modifyEnd(keyedTableEnd),
  ]
}

const VIEW_COLUMNS = {
  pins: ['repository_id', 'kind', 'issue_id', 'position', 'pinned_at', 'pinned_by'],
  blocks: ['organization_id', 'user_id', 'note', 'blocked_at', 'blocked_by'],
  badge_grants: ['user_id', 'badge_id', 'slug', 'granted_at', 'granted_by'],
} as const

/**
 * The views. They are a public interface: hosts may read and join them with plain SQL in every version. The tables
 * behind them are private. A view has one row per pin, block or grant. Ids have the host's column types, times are
 * milliseconds since 1970 (UTC), `position` is 1-based, `kind` is `issue` or `pullRequest`, and the actor is null if
 * the host itself acted.
 */
function views({ build, schema, prefix }: SqlContext): Ddl {
  const schemas = schema === undefined ? build.schema : build.schema.withSchema(schema)
  const view = (name: keyof typeof VIEW_COLUMNS): CreateViewBuilder =>
    schemas.createView(`${prefix}${name}`).columns([...VIEW_COLUMNS[name]])
  const grants = build.selectFrom('user_grants').innerJoin('badges', 'badges.id', 'user_grants.badge_id')

  return [
    view('pins').as(build.selectFrom('board_pins').select(VIEW_COLUMNS.pins)),
    view('blocks').as(build.selectFrom('organization_blocks').select(VIEW_COLUMNS.blocks)),
    view('badge_grants').as(grants.select(VIEW_COLUMNS.badge_grants)),
  ]
}
