import type { Compilable, CreateTableBuilder, CreateViewBuilder, RawBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { HostThing } from '../../../schema/records.ts'
import type { SqlContext } from '../context.ts'
import type { SchemaStatement, SqlDialect } from '../dialect.ts'
import { schemaStatement } from '../dialect.ts'
import type { NameOn } from '../host/keys.ts'
import { ALWAYS, livesIn, lookedInFor } from '../host/references.ts'
import { HOST_THINGS } from '../ids.ts'
import type { Statement } from '../query.ts'
import { compileStatement, rawQuery } from '../query.ts'
import type { ColumnType, TableDescription, TableIndex } from './tables.ts'
import { TABLE_DESCRIPTIONS, valueType } from './tables.ts'

type Ddl = readonly Compilable<unknown>[]

/** What each version adds to its tables, oldest first. A version never changes once released; minor releases only add. */
const ADDED: readonly ((context: SqlContext) => readonly SchemaStatement[])[] = [addedFirst, addedSecond]

const versions = Object.values(TABLE_DESCRIPTIONS).map(({ since }) => since)
/** The newest version of the tables. */
export const NEWEST_VERSION: number = Math.max(ADDED.length, ...versions)

/** Returns the statements of each version, oldest first: those that create its tables, and what it adds to them. */
export function versionsOf(context: SqlContext): readonly (readonly SchemaStatement[])[] {
  return Array.from({ length: NEWEST_VERSION }, (_, before) => [
    ...createTables(context, before + 1),
    ...(ADDED[before]?.(context) ?? []),
  ])
}

/** The views, and what the order of the outbox needs. */
function addedFirst(context: SqlContext): readonly SchemaStatement[] {
  const { build } = context
  const first = { ...viewsOf(withoutHost(context)), pins: build.selectFrom('board_pins').select(PIN_COLUMNS) }
  return [
    ...outboxIndexes(context.dialect).map((index) => indexOn(context, 'events', index)),
    firstRow(context, 'outbox', { only: 1, last_position: 0, floor: 0 }),
    ...FIRST_VIEWS.map((name) => viewOf(context, name).as(first[name])),
  ].map(schemaStatement)
}

/** Positions are counted by the views, tables can follow those of a host, and users can block. */
function addedSecond(context: SqlContext): readonly SchemaStatement[] {
  const alone = withoutHost(context)
  return [
    schemaStatement(firstRow(context, 'host_tables', { only: 1, tables: '' })),
    schemaStatement(viewOf(context, 'user_blocks').as(viewsOf(alone).user_blocks)),
    ...replacedViews(alone, FIRST_VIEWS),
  ]
}

/** Views refer to the tables of the host once the tables of the forge follow these, with columns of the same types. */
function withoutHost(context: SqlContext): SqlContext {
  return { ...context, tables: undefined }
}

/** What the mark of a copy adds to the oldest library that can use the tables: others refuse them as too new. */
export const INCOMPLETE = 1_000_000

/** The table that has the version of others, beside which it is. */
export interface Ledger {
  /** Creates it, with its row: the types of the host's ids, and version 0 until the tables are made. */
  readonly made: readonly SchemaStatement[]
  /** Marks the tables as those of a copy that has not ended: no library uses them. A second mark makes it twice as much. */
  readonly mark: Statement<unknown>
  /** Takes the mark back, if there is one. */
  readonly unmark: Statement<unknown>
  /** Notes the version of the tables, and the oldest library that can use them. It is the last statement. */
  readonly note: SchemaStatement
}

/** Returns the ledger of the tables. */
export function ledgerOf(context: SqlContext): Ledger {
  const { build, ids, tables } = context
  const change = (operator: '+' | '-') =>
    build.updateTable('ledger').set((of) => ({ oldest_library: of('oldest_library', operator, INCOMPLETE) }))
  const noted = { version: sql.lit(NEWEST_VERSION), oldest_library: sql.lit(tables === undefined ? 1 : 2) }
  const row = firstRow(context, 'ledger', { only: 1, version: 0, oldest_library: 0, ids: ids.text })
  return {
    made: [...createTables(context, 0), schemaStatement(row)],
    mark: compileStatement(change('+')),
    unmark: compileStatement(change('-').where('oldest_library', '>=', INCOMPLETE)), // MariaDB has no % in its mode ORACLE
    note: schemaStatement(build.updateTable('ledger').set(noted)),
  }
}

/** Returns the statements that create the tables of a version and their indexes, in the order of the tables. */
function createTables(context: SqlContext, version: number): readonly SchemaStatement[] {
  return Object.entries(TABLE_DESCRIPTIONS)
    .filter(([, { since }]) => since === version)
    .flatMap(([name, description]) => createTable(context, name, description))
    .map(schemaStatement)
}

/** Writes the one row of a table. It is there already if the statement is run again. */
export function firstRow(
  { build }: SqlContext,
  name: 'ledger' | 'outbox' | 'host_tables',
  row: Readonly<Record<string, string | number>>,
): Compilable<unknown> {
  const columns = sql.join(Object.keys(row).map((column) => sql.id(column)))
  const values = sql.join(Object.values(row).map((value) => sql.lit(value)))
  const ours = sql.table(name)
  return rawQuery(
    build,
    sql`insert into ${ours} (${columns}) select ${values} where not exists (select * from ${ours})`,
  )
}

/** Creates a table and its indexes. */
function createTable(context: SqlContext, name: string, description: TableDescription): Ddl {
  const { build, prefix, dialect } = context
  const { columns, key, unique, indexes = [] } = description
  let create: CreateTableBuilder<string, string> = build.schema.createTable(name)
  for (const [column, type] of Object.entries(columns)) {
    create = create.addColumn(column, typeOf(context, type), (made) => {
      if (type === 'serial') return dialect.serialKey(made)
      if (column === 'only') return made.notNull().check(sql`${sql.ref('only')} = 1`)
      const [, target] = /^id of (\w+)/.exec(String(type)) ?? []
      const referring = target === undefined ? made : made.references(`${target}.id`)
      return String(type).endsWith('?') ? referring : referring.notNull()
    })
  }
  if (key !== undefined) create = create.addPrimaryKeyConstraint(`${prefix}${name}_pk`, [...key])
  if (unique !== undefined) create = create.addUniqueConstraint(`${prefix}${name}_${unique.name}`, [...unique.columns])
  return [
    create.modifyEnd(dialect.tableEnd(key !== undefined)),
    ...indexes.map((index) => indexOn(context, name, index)),
  ]
}

function typeOf({ ids, dialect: { types } }: SqlContext, column: ColumnType): RawBuilder<unknown> {
  const type = valueType(column)
  const kind = HOST_THINGS.find((thing) => thing === type)
  if (kind !== undefined) return ids.type(kind)
  return type === 'key' || type === 'text' ? types[type] : types.integer
}

function indexOn(
  { build, prefix, dialect }: SqlContext,
  table: string,
  { name, columns, where, isUnique }: TableIndex,
): Compilable<unknown> {
  const index = build.schema
    .createIndex(`${prefix}${table}_${name}`)
    .on(table)
    .columns([...columns])
  const create = isUnique === true ? index.unique() : index
  if (where === undefined || !dialect.partialIndexes) return create
  const [column, test] = where
  return create.where(sql<boolean>`${sql.ref(column)} ${sql.raw(test)}`)
}

/** Where ids are in order of commit, they are the order of the outbox. */
function outboxIndexes({ outboxOrder, partialIndexes }: SqlDialect): readonly TableIndex[] {
  if (outboxOrder === 'id') return []
  // The id as second column finds the first events without a position without reading all of them.
  if (!partialIndexes) return [{ name: 'position', columns: ['position', 'id'] }]
  return [
    { name: 'position', columns: ['position'], isUnique: true },
    { name: 'unnumbered', columns: ['id'], where: ['position', 'is null'] },
  ]
}

/**
 * Returns the 1-based position of a pin among those that exist for the forge. The column is their order: the database
 * leaves gaps in it, and a hidden pin keeps its position there.
 */
export function positionOf(isAlive: (alias: string) => RawBuilder<SqlBool>): RawBuilder<number> {
  const pins = sql.table('board_pins')
  const own = (column: string) =>
    sql`${sql.ref(`other.${column}`)} ${sql.raw(column === 'position' ? '<=' : '=')} ${sql.ref(`board_pins.${column}`)}`
  const before = sql.join(['repository_id', 'kind', 'position'].map(own), sql` and `)
  return sql`(select count(*) from ${pins} as other where ${before} and ${isAlive('other')})`
}

/**
 * Returns the statements that replace the views by those for the tables of the host that the storage knows. A view keeps its
 * columns in every version.
 */
export function replacedViews(context: SqlContext, names: readonly ViewName[] = VIEWS): readonly SchemaStatement[] {
  const { build, dialect, prefix } = context
  const views = viewsOf(context)
  return names.flatMap((name) => {
    const view = viewOf(context, name).as(views[name])
    const statements = dialect.replacesViews
      ? [view.orReplace()]
      : [build.schema.dropView(`${prefix}${name}`).ifExists(), view]
    return statements.map((statement) => ({ ...schemaStatement(statement), makes: undefined }))
  })
}

type ViewName = 'pins' | 'blocks' | 'badge_grants' | 'user_blocks'
/** The views of version 1. */
const FIRST_VIEWS: readonly ViewName[] = ['pins', 'blocks', 'badge_grants']
/** The views, by name without prefix. */
export const VIEWS: readonly ViewName[] = [...FIRST_VIEWS, 'user_blocks']

function viewOf({ build, schema, prefix }: SqlContext, name: ViewName): CreateViewBuilder {
  const schemas = schema === undefined ? build.schema : build.schema.withSchema(schema)
  return schemas.createView(`${prefix}${name}`).columns([...COLUMNS[name]])
}

/**
 * The views. They are a public interface: hosts may read and join them with plain SQL in every version. The tables
 * behind them are private. A view has one row per pin, block or grant. Ids have the host's column types, times are
 * milliseconds since 1970 (UTC), `position` is 1-based, `kind` is `issue` or `pullRequest`, and the actor is null if
 * the host itself acted. What a condition of the host hides is not there. A pin whose issue has moved to another repository
 * is: to see that, every view would refer to a table of the host, which the host could then not rebuild on SQLite.
 */
function viewsOf(context: SqlContext) {
  const { build } = context
  const lives = (thing: HostThing, alias: string) => livesIn(context, thing, alias) ?? ALWAYS
  return {
    pins: build
      .selectFrom('board_pins')
      .select(['repository_id', 'kind', 'issue_id'])
      .select(positionOf((alias) => lives('issue', alias)).as('position'))
      .select(['pinned_at', 'pinned_by'])
      .where(lives('issue', 'board_pins'))
      .where(lives('repository', 'board_pins')),
    blocks: build
      .selectFrom('organization_blocks')
      .select(COLUMNS.blocks)
      .where(lives('user', 'organization_blocks'))
      .where(lives('organization', 'organization_blocks')),
    user_blocks: build
      .selectFrom('blocks_by_users')
      .select(COLUMNS.user_blocks)
      .where(lives('user', 'blocks_by_users'))
      .where(livesIn(context, 'user', 'blocks_by_users', 'blocker_id') ?? ALWAYS),
    badge_grants: build
      .selectFrom('user_grants')
      .innerJoin('badges', 'badges.id', 'user_grants.badge_id')
      .select(COLUMNS.badge_grants)
      .where(lives('user', 'user_grants')),
  }
}

/** Returns the tables of the host that the views read. */
export function viewReads(context: SqlContext): readonly NameOn[] {
  return VIEWS.flatMap((name) =>
    VIEWED[name].flatMap((thing) =>
      lookedInFor(context, thing).map((on) => ({ name: `${context.prefix}${name}`, on })),
    ),
  )
}

/** The things of the host in whose tables a view looks. */
const VIEWED: Readonly<Record<ViewName, readonly HostThing[]>> = {
  pins: ['issue', 'repository'],
  blocks: ['user', 'organization'],
  user_blocks: ['user'],
  badge_grants: ['user'],
}

const PIN_COLUMNS = ['repository_id', 'kind', 'issue_id', 'position', 'pinned_at', 'pinned_by'] as const
const COLUMNS = {
  pins: PIN_COLUMNS,
  blocks: ['organization_id', 'user_id', 'note', 'blocked_at', 'blocked_by'],
  user_blocks: ['blocker_id', 'user_id', 'note', 'blocked_at', 'blocked_by'],
  badge_grants: ['user_id', 'badge_id', 'slug', 'granted_at', 'granted_by'],
} as const
