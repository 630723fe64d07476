import type { Compilable, Expression, Kysely, RawBuilder } from 'kysely'
import { DummyDriver, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { EventNumbering, Place, RecordColumns, SchemaChanges, SchemaStatement, SqlDialect } from '../dialect.ts'
import { command, overwriteExcluded, writtenStatement } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Tables } from '../schema/tables.ts'
import type { Queryable } from '../session.ts'
import { execute, queryFirst } from '../session.ts'

/**
 * PostgreSQL rolls back schema changes with their transaction. An index is created concurrently, outside of a
 * transaction.
 */
const postgresSchemaChanges: SchemaChanges = {
  lock: (place) => ({
    sql: `select case when pg_try_advisory_lock(${LOCK}) then 'taken' else 'busy' end as "lock"`,
    parameters: [place.schema ?? null],
    returnsRows: true,
  }),
  unlock: (place) => ({
    sql: `select pg_advisory_unlock(${LOCK})::text as "unlocked"`,
    parameters: [place.schema ?? null],
    returnsRows: true,
  }),
  units: (statements) => [statements],
  *run(session, unit) {
    yield* execute(session, command('begin isolation level read committed read write'))
    try {
      for (const statement of [...LIMITS.map(command), ...unit, command('commit')]) yield* execute(session, statement)
    } catch (error) {
      yield* rollBack(session)
      throw error
    }
  },
  *index(session, { place, statement, wait }) {
    const before = yield* queryFirst(session, SETTINGS)
    yield* execute(
      session,
      settingsTo(JSON.stringify({ lock_timeout: `${Math.max(1, wait)}ms`, statement_timeout: '0' })),
    )
    try {
      yield* dropInvalid(session, place, statement)
      yield* execute(session, statement)
    } finally {
      if (before !== undefined) yield* execute(session, settingsTo(before.settings))
    }
  },
}

/** The names of two prefixes can overlap, so both take the one lock of their schema. */
const LOCK = "hashtextextended('forgelet migrates ' || coalesce(cast($1 as text), current_schema()), 0)"

/** A waiting change of a table blocks every reader of it. A host's limit for statements is not meant for these. */
const LIMITS = ["set local lock_timeout = '2s'", 'set local statement_timeout = 0']

const SETTINGS: Statement<{ readonly settings: string }> = {
  sql:
    "select cast(json_build_object('lock_timeout', current_setting('lock_timeout'), " +
    "'statement_timeout', current_setting('statement_timeout')) as text) as \"settings\"",
  parameters: [],
  returnsRows: true,
}

function settingsTo(settings: string): Statement<unknown> {
  return {
    sql: 'select set_config(key, value, false) as "setting" from json_each_text(cast($1 as json))',
    parameters: [settings],
    returnsRows: true,
  }
}

/** Drops the remains of an index whose creation failed: they occupy its name and are unusable. */
function* dropInvalid(session: Queryable, place: Place, index: SchemaStatement): SyncOrAsync<void> {
  const found = yield* queryFirst(session, invalidIndex(place, index.makes?.name ?? ''))
  if (found !== undefined) yield* execute(session, command(`drop index concurrently if exists ${found.name}`))
}

function invalidIndex({ schema }: Place, name: string): Statement<{ readonly name: string }> {
  return {
    sql:
      'select format(\'%I.%I\', n.nspname, c.relname) as "name" from pg_catalog.pg_index as i ' +
      'join pg_catalog.pg_class as c on c.oid = i.indexrelid ' +
      'join pg_catalog.pg_namespace as n on n.oid = c.relnamespace ' +
      'where not i.indisvalid and c.relname = $1 and ' +
      'case when cast($2 as text) is null then pg_catalog.pg_table_is_visible(c.oid) else n.nspname = $2 end',
    parameters: [name, schema ?? null],
    returnsRows: true,
  }
}

function* rollBack(session: Queryable): SyncOrAsync<void> {
  try {
    yield* execute(session, command('rollback'))
  } catch {
    // The connection is lost, and the transaction with it.
  }
}

const BIGINT = sql`bigint`
// Texts have no collation of their own: a host joins its columns with ours, and two collations could not be compared.
const TEXT = sql`text`
const IDS = { bigint: BIGINT, uuid: sql`uuid`, text: TEXT }
const NOTHING = sql``

/** PostgreSQL 13 and newer. */
export const postgresDialect: SqlDialect = {
  compiler: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
  types: { integer: BIGINT, key: TEXT, text: TEXT, id: IDS },
  casts: { integer: BIGINT, text: TEXT, id: IDS },
  bindsIntegersAsNumbers: false,
  // Drivers return bigint as text, or round it if the host asks for numbers. A double is always a number.
  number: (expression) => sql`cast(${expression} as double precision)`,
  tableEnd: NOTHING,
  keyedTableEnd: NOTHING,
  serialKey: (column) => column.primaryKey().generatedAlwaysAsIdentity(),
  partialIndexes: true,
  lockExisting: (insert) =>
    insert.onConflict((conflict) =>
      conflict.columns(['scope', 'key']).doUpdateSet((row) => ({ version: row.ref('heads.version') })),
    ),
  skipExisting: (insert) => insert.onConflict((conflict) => conflict.column('issue_id').doNothing()),
  // A transaction that keeps an older snapshot fails at the lock, because the version was raised meanwhile.
  lockingRead: '',
  outboxOrder: 'position',
  eventNumbering: () => [],
  numberEvents,
  removeEvents: (build, ids) => build.deleteFrom('events').where('id', 'in', elements(ids, BIGINT)),
  now: sql`cast(extract(epoch from pg_catalog.clock_timestamp()) * 1000 as bigint)`,
  elements,
  jsonRows: undefined,
  records,
  overwrite: overwriteExcluded,
  columns: ({ schema, prefix }) => ({
    sql:
      'select cast(c.relname as text) as "table", cast(a.attname as text) as "column" from pg_catalog.pg_class as c ' +
      'join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped ' +
      `where c.relkind in ('r', 'v', 'p') and pg_catalog.starts_with(cast(c.relname as text), $1) and ${isIn(schema)}`,
    parameters: [prefix, ...schemaParameter(schema)],
    returnsRows: true,
  }),
  things: ({ schema, prefix }) => ({
    sql: `${namedThings(schema)} union all ${namedTriggers(schema)}`,
    parameters: [prefix, ...schemaParameter(schema)],
    returnsRows: true,
  }),
  ddlCommitsItself: false,
  newIndex: sql`concurrently if not exists`,
  defaultSchema: {
    sql: 'select cast(pg_catalog.current_schema() as text) as "name"',
    parameters: [],
    returnsRows: true,
  },
  createSchema: (schema) => (schema === undefined ? [] : [schemaUnlessThere(schema)]),
  schemaChanges: postgresSchemaChanges,
  script: (statements) => ['begin', ...statements, 'commit'],
}

function elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string> {
  return sql`(select cast(value as ${type}) from pg_catalog.json_array_elements_text(cast(${json} as json)))`
}

function records(json: Expression<string>, columns: RecordColumns): RawBuilder<unknown> {
  const typed = Object.entries(columns).map(
    ([name, type]) => sql`${sql.id(name)} ${type === 'integer' ? BIGINT : TEXT}`,
  )
  return sql`pg_catalog.json_to_recordset(cast(${json} as json)) as record(${sql.join(typed)})`
}

function numberEvents(build: Kysely<Tables>, { ids, last }: EventNumbering): Compilable<unknown> {
  const numbered = sql<{
    id: string
    place: number
  }>`pg_catalog.json_array_elements_text(cast(${ids} as json)) with ordinality`
  return build
    .updateTable('events')
    .from(numbered.as<'numbered'>(sql`numbered(id, place)`))
    .set({ position: sql<number>`${last} + ${sql.ref('numbered.place')}` })
    .where('events.id', '=', sql<string>`cast(${sql.ref('numbered.id')} as bigint)`)
}

/** Without a schema option, our tables are those that an unqualified name reaches. */
function isIn(schema: Place['schema']): string {
  if (schema === undefined) return 'pg_catalog.pg_table_is_visible(c.oid)'
  return 'c.relnamespace = (select n.oid from pg_catalog.pg_namespace as n where n.nspname = $2)'
}

function schemaParameter(schema: Place['schema']): readonly string[] {
  return schema === undefined ? [] : [schema]
}

function namedThings(schema: Place['schema']): string {
  return (
    'select pg_catalog.lower(cast(c.relname as text)) as "name", pg_catalog.lower(cast(coalesce(t.relname, c.relname) as text)) as "table" ' +
    'from pg_catalog.pg_class as c left join pg_catalog.pg_index as i on i.indexrelid = c.oid ' +
    'left join pg_catalog.pg_class as t on t.oid = i.indrelid ' +
    "where c.relkind in ('r', 'v', 'p', 'm', 'f', 'i') and coalesce(i.indisvalid, true) " +
    `and pg_catalog.starts_with(pg_catalog.lower(cast(c.relname as text)), $1) and ${isIn(schema)}`
  )
}

function namedTriggers(schema: Place['schema']): string {
  return (
    'select pg_catalog.lower(cast(g.tgname as text)), pg_catalog.lower(cast(c.relname as text)) from pg_catalog.pg_trigger as g ' +
    'join pg_catalog.pg_class as c on c.oid = g.tgrelid where not g.tgisinternal ' +
    `and pg_catalog.starts_with(pg_catalog.lower(cast(g.tgname as text)), $1) and ${isIn(schema)}`
  )
}

/** `create schema if not exists` needs a privilege that a role that was given a schema may not have. */
function schemaUnlessThere(schema: string): SchemaStatement {
  return writtenStatement(
    `do $$ begin if not exists (select from pg_catalog.pg_namespace where nspname = '${schema}') ` +
      `then create schema "${schema}"; end if; end $$`,
  )
}
