import type { Compilable, Expression, Kysely, RawBuilder } from 'kysely'
import { MysqlAdapter, MysqlQueryCompiler, sql } from 'kysely'
import type { SqlDialect } from '../dialect.ts'
import { command, compilerOnly, textQuery } from '../dialect.ts'
import type { Tables } from '../schema/tables.ts'

/**
 * The names of two prefixes can overlap, so both take the one lock of their database. Its name is at most 64 characters
 * long, and shared by all databases of the server.
 */
const LOCK = "concat('forgelet migrates ', sha1(database()))"

/** How long a migration waits for another, and for users of a table, who all wait behind it: in seconds. */
const LOCK_WAIT = 10

/** A host's limit for statements is not meant for a migration. */
const LIMITS = `set statement lock_wait_timeout = ${LOCK_WAIT}, innodb_lock_wait_timeout = ${LOCK_WAIT}, max_statement_time = 0, sql_safe_updates = 0 for`

/** Where connections do not commit by themselves, a read has begun a transaction, and what is written stays in it. */
const COMMIT = command('commit')

const UNLOCK = textQuery(`select release_lock(${LOCK}) as unlocked`)

/**
 * Trailing blanks, case and every character count: by default `night-owl`, `Night-Owl` and `night-owl ` are one key.
 */
const EXACT = sql`character set utf8mb4 collate utf8mb4_nopad_bin`

const BIGINT = sql`bigint`
const SIGNED = sql`signed`
// Without a character set, a text would have the collation of its connection: two collations that end in _bin cannot be
// compared.
const CHAR = sql`char character set utf8mb4`
const UUID = sql`uuid`
const TABLE_END = sql`engine = InnoDB row_format = dynamic default ${EXACT}`

/** MariaDB 10.6 and newer. MySQL itself has no RETURNING. */
export const mysqlDialect: SqlDialect = {
  compiler: compilerOnly(new MysqlAdapter(), () => new MysqlQueryCompiler()),
  types: {
    integer: BIGINT,
    key: sql`varchar(255) ${EXACT}`,
    text: sql`longtext ${EXACT}`,
    id: { bigint: BIGINT, uuid: UUID, text: sql`varchar(64) ${EXACT}` },
  },
  casts: { integer: SIGNED, text: CHAR, id: { bigint: SIGNED, uuid: UUID, text: CHAR } },
  bindsIntegersAsNumbers: false,
  // A host may configure its driver to return integers as text, or decimals as numbers or the reverse. A double is
  // always a number.
  number: (expression) => sql`cast(${expression} as double)`,
  tableEnd: () => TABLE_END,
  serialKey: (column) => column.primaryKey().autoIncrement(),
  partialIndexes: false,
  lockExisting: (insert) => insert.onDuplicateKeyUpdate((row) => ({ version: row.ref('heads.version') })),
  // A shared lock, so that users who are granted the same badge at once do not wait for each other.
  lockingRead: ' lock in share mode',
  outboxOrder: 'position',
  numberEvents: (build, ids, last) =>
    written(
      build,
      sql`update ${listed(ids)} straight_join ${sql.table('events')} as event force index (primary) on event.id = listed.id set event.position = ${last} + listed.place`,
    ),
  removeEvents: (build, ids) =>
    written(
      build,
      sql`delete event from ${listed(ids)} straight_join ${sql.table('events')} as event force index (primary) on event.id = listed.id`,
    ),
  // Not the local time: twice a year one of its hours is ambiguous.
  now: sql`timestampdiff(microsecond, timestamp '1970-01-01 00:00:00', utc_timestamp(3)) div 1000`,
  elements,
  columns: ({ prefix }) =>
    textQuery(
      'select lower(table_name) as `table`, lower(column_name) as `column` from information_schema.columns ' +
        'where table_schema = database() and left(lower(table_name), char_length(?)) = ?',
      [prefix, prefix],
    ),
  repeatable: (text) =>
    text
      .replace(/^create (table|index|unique index) (?!if not exists)/, 'create $1 if not exists ')
      .replace(/^create view /, 'create or replace view ')
      .replaceAll(/ add column /g, ' add column if not exists '),
  migration: {
    begin: () => [
      {
        ...textQuery<{ lock: string }>(
          `${LIMITS} select if(get_lock(${LOCK}, ${LOCK_WAIT}) = 1, 'taken', 'busy') as \`lock\``,
        ),
        mayTakeLong: true,
      },
      COMMIT,
    ],
    limited: (text) => `${LIMITS} ${text}`,
    end: [COMMIT, UNLOCK],
    abandon: UNLOCK,
  },
  script: (statements) => statements,
}

/**
 * Returns the elements of a JSON list of integers with their places. Join it by `straight_join` with the index forced,
 * to find rows by their key: on a small table MariaDB would otherwise read all rows, and wait for those that are not
 * committed.
 */
function listed(json: Expression<string>): RawBuilder<unknown> {
  return sql`json_table(${json}, '$[*]' columns (place for ordinality, id bigint path '$')) as listed`
}

/**
 * The length exceeds that of any key, so a text that is cut to it matches no key. A text keeps the collation of the
 * columns it is compared with.
 */
function elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string> {
  const value = type === CHAR ? sql`element` : sql`cast(element as ${type})`
  return sql`(select ${value} from json_table(${json}, '$[*]' columns (element varchar(256) ${EXACT} path '$')) as list)`
}

function written(build: Kysely<Tables>, query: RawBuilder<unknown>): Compilable<unknown> {
  return { compile: () => query.compile(build) }
}
