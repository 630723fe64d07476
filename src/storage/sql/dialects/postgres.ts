import type { Compilable, Expression, Kysely, RawBuilder } from 'kysely'
import { PostgresAdapter, PostgresQueryCompiler, sql } from 'kysely'
import type { Place, SchemaStatement, SqlDialect } from '../dialect.ts'
import { command, compilerOnly, textQuery } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Tables } from '../schema/tables.ts'

/**
 * Begins the transaction of a migration, and takes the lock of the schema: the names of two prefixes can overlap. It waits
 * for another migration, and for users of a table, who all wait behind it, at most ten seconds. A host's limit for
 * statements is not meant for it.
 */
function begin({ schema }: Place): readonly Statement<{ readonly lock: string }>[] {
  const lock = textQuery<{ lock: string }>(
    "select cast(pg_advisory_xact_lock(hashtextextended('forgelet migrates ' || " +
      'coalesce(cast($1 as text), current_schema()), 0)) as text) as "lock"',
    [schema ?? null],
  )
  return [
    command('begin isolation level read committed read write'),
    command("set local lock_timeout = '10s'"),
    command('set local statement_timeout = 0'),
    { ...lock, mayTakeLong: true },
  ]
}

const BIGINT = sql`bigint`
// Texts have no collation of their own: a host joins its columns with ours, and two collations could not be compared.
const TEXT = sql`text`
const IDS = { bigint: BIGINT, uuid: sql`uuid`, text: TEXT }

/** PostgreSQL 13 and newer. */
export const postgresDialect: SqlDialect = {
  compiler: compilerOnly(new PostgresAdapter(), () => new PostgresQueryCompiler()),
  types: { integer: BIGINT, key: TEXT, text: TEXT, id: IDS },
  casts: { integer: BIGINT, text: TEXT, id: IDS },
  bindsIntegersAsNumbers: false,
  // Drivers return bigint as text, or round it if the host asks for numbers. A double is always a number.
  number: (expression) => sql`cast(${expression} as double precision)`,
  tableEnd: () => sql``,
  serialKey: (column) => column.primaryKey().generatedAlwaysAsIdentity(),
  partialIndexes: true,
  lockExisting: (insert) =>
    insert.onConflict((conflict) =>
      conflict.columns(['scope', 'key']).doUpdateSet((row) => ({ version: row.ref('heads.version') })),
    ),
  // A transaction that keeps an older snapshot fails at the lock, because the version was raised meanwhile.
  lockingRead: '',
  outboxOrder: 'position',
  numberEvents,
  removeEvents: (build, ids) => build.deleteFrom('events').where('id', 'in', elements(ids, BIGINT)),
  now: sql`cast(extract(epoch from pg_catalog.clock_timestamp()) * 1000 as bigint)`,
  elements,
  columns: ({ schema, prefix }) =>
    textQuery(
      'select pg_catalog.lower(cast(c.relname as text)) as "table", cast(a.attname as text) as "column" ' +
        'from pg_catalog.pg_class as c ' +
        'join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped ' +
        `where pg_catalog.starts_with(pg_catalog.lower(cast(c.relname as text)), $1) and ${isIn(schema)}`,
      schema === undefined ? [prefix] : [prefix, schema],
    ),
  createSchema,
  migration: {
    begin,
    end: [command('commit')],
    abandon: command('rollback'),
  },
  script: (statements) => ['begin', ...statements, 'commit'],
}

function elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string> {
  return sql`(select cast(value as ${type}) from pg_catalog.json_array_elements_text(cast(${json} as json)))`
}

function numberEvents(build: Kysely<Tables>, ids: Expression<string>, last: Expression<number>): Compilable<unknown> {
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

/** `create schema if not exists` needs a privilege that a role that was given a schema may not have. */
function createSchema(schema: string): SchemaStatement {
  return command(
    `do $$ begin if not exists (select from pg_catalog.pg_namespace where nspname = '${schema}') ` +
      `then create schema "${schema}"; end if; end $$`,
  )
}
