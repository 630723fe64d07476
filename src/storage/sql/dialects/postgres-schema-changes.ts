import type { Steps } from '../../../schema/steps.ts'
import type { Place } from '../dialect.ts'
import { command } from '../dialect.ts'
import type { SchemaChanges } from '../migrations/schema-changes.ts'
import type { SchemaStatement } from '../migrations/schema-statement.ts'
import type { Statement } from '../query.ts'
import type { Asking } from '../session.ts'
import { askFirst, tell } from '../session.ts'

/** PostgreSQL takes changed tables back with their transaction; an index is made beside its users outside of one. */
export const postgresSchemaChanges: SchemaChanges = {
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
    yield* tell(session, command('begin isolation level read committed read write'))
    try {
      for (const statement of [...LIMITS.map(command), ...unit, command('commit')]) yield* tell(session, statement)
    } catch (error) {
      yield* rollBack(session)
      throw error
    }
  },
  *index(session, { place, statement, wait }) {
    const before = yield* askFirst(session, SETTINGS)
    yield* tell(session, settingsTo(JSON.stringify({ lock_timeout: `${Math.max(1, wait)}ms`, statement_timeout: '0' })))
    try {
      yield* dropInvalid(session, place, statement)
      yield* tell(session, statement)
    } finally {
      if (before !== undefined) yield* tell(session, settingsTo(before.settings))
    }
  },
}

/** Two prefixes can meet in one name, so both wait for the one lock of their schema. */
const LOCK = "hashtextextended('forgelet migrates ' || coalesce(cast($1 as text), current_schema()), 0)"

/** A waiting change of a table keeps everybody from reading it. A host's limit for statements is not meant for these. */
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

/** What is left of an index that could not be made has its name, and is good for nothing. */
function* dropInvalid(session: Asking, place: Place, index: SchemaStatement): Steps<void> {
  const found = yield* askFirst(session, invalidIndex(place, index.makes?.name ?? ''))
  if (found !== undefined) yield* tell(session, command(`drop index concurrently if exists ${found.name}`))
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

function* rollBack(session: Asking): Steps<void> {
  try {
    yield* tell(session, command('rollback'))
  } catch {
    // the connection is lost, and the transaction with it
  }
}
