import { ForgeError } from 'forgelet'
import type { SchemaStatus, SqlDialectName } from 'forgelet/storage'
import type { Steps } from '../steps.ts'
import { run, wait } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import type { Sql } from './sql.ts'
import { raw, sql } from './sql.ts'
import type { ColumnType, Row, TableDescription } from './tables.ts'
import { HOST_TABLES, isText } from './tables.ts'

const NAME = "the server's own schema"
const OTHER = 'name another database'

/** The version of the tables, and the oldest version of a release that can use them. A release that adds to them adds a version. */
const VERSION = 1

/** How long a migration may take, also while others migrate, in milliseconds. */
const MAX_MIGRATION_MS = 300_000

/** The columns of tables, by the names of the tables. */
type Present = ReadonlyMap<string, ReadonlySet<string>>

type Ledger = Pick<Row<'ledger'>, 'version' | 'oldest_library'>

const LEDGER = HOST_TABLES.ledger.columns

/** The state of the tables of the host, and the versions in their ledger, 0 without one. `drifted`: a table or a column is missing. */
interface HostState extends Ledger {
  readonly state: SchemaStatus['state']
}

/**
 * Brings the tables of the host up to date, then those of the forge. Nothing is written if the database cannot be used.
 *
 * @throws ForgeError `SCHEMA_TOO_NEW` if the tables are for newer releases only; `STORAGE_UNAVAILABLE` if a table is
 * missing, if another program uses the same names, or if the database holds the forge of an application, whose ids
 * refer to other users
 */
export async function migrate(database: HostDatabase): Promise<void> {
  await migrateHost(database)
  await database.storage.migrate()
}

/** Creates the tables of the host that are missing. @throws ForgeError as `migrate` does */
export async function migrateHost(database: HostDatabase): Promise<void> {
  const { state } = await run(ownState(database))
  if (state === 'empty' || state === 'outdated') {
    const milliseconds = MAX_MIGRATION_MS
    await database.storage.database.transaction((transaction) => run(create(database, transaction)), { milliseconds })
  } else if (state === 'drifted') {
    throw unavailable('a table, column or index of this server is missing: restore a copy of the database')
  }
  if (database.dialect === 'postgres') await run(rows(database, assignBehind(database), undefined))
}

/** Another process may have created them since, or an application its own. */
function* create(database: HostDatabase, transaction: unknown): Steps<void> {
  if (database.dialect === 'postgres') yield* rows(database, LOCK, transaction)
  if ((yield* ownState(database, transaction)).version >= VERSION) return
  const isRow = raw(`${database.forms.name('only')} = 1`) // MariaDB may refuse an update without a key
  const versions = sql`update ${database.table('ledger')}
    set version = ${VERSION}, oldest_library = ${VERSION} where ${isRow}`
  for (const part of [...createTables(database), versions]) yield* rows(database, part, transaction)
}

/**
 * Checks that the database answers, and that the tables of the host and of the forge can be used. Writes nothing.
 * @throws ForgeError `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`, `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
 */
export async function check(database: HostDatabase): Promise<void> {
  const state = run(usableState(database))
  const [{ version: found }] = await Promise.all([state, database.storage.database.check()])
  if (found >= VERSION) return
  const message = `${NAME} has version ${found}, but ${VERSION} is needed: restart the server`
  throw new ForgeError('SCHEMA_OUTDATED', message, { found, needed: VERSION })
}

/**
 * Returns the state of tables that can be used, or created. The server creates its own tables before those of the forge, and in
 * each the ledger first. So a forge without them belongs to an application. The questions are in that order, because another
 * process may be creating the tables.
 */
function* ownState(database: HostDatabase, transaction?: unknown): Steps<HostState> {
  const { prefix, forgePrefix } = database
  const beside = yield* tablesOf(database, forgePrefix, transaction)
  const hasForge = [...beside.keys()].some((name) => !name.startsWith(prefix))
  const isForge = !hasForge || hasTable(beside, `${forgePrefix}ledger`, LEDGER)
  const found = yield* usableState(database, transaction)
  const isHost = found.state !== 'drifted' || found.version > 0
  if (!isForge || !isHost) throw unavailable(`it holds tables of another program: ${OTHER}`)
  if (!hasForge || found.state !== 'empty') return found
  throw unavailable(`it holds the forge of an application and none of this server's tables: ${OTHER}`)
}

/** Returns the state of tables that are not for newer releases only. @throws ForgeError `SCHEMA_TOO_NEW` */
function* usableState(database: HostDatabase, transaction?: unknown): Steps<HostState> {
  const found = yield* hostState(database, transaction)
  if (found.state !== 'too-new') return found
  const { version, oldest_library } = found
  const message = `${NAME} has version ${version}, which this library (${VERSION}) cannot use: install a newer one`
  throw new ForgeError('SCHEMA_TOO_NEW', message, { found: version, oldestLibrary: oldest_library })
}

/** Reads the state of the tables of the host, and their ledger. */
export function* hostState(database: HostDatabase, transaction?: unknown): Steps<HostState> {
  const { prefix, integer, table } = database
  const present = yield* tablesOf(database, prefix, transaction)
  const made = Object.entries(HOST_TABLES)
  const none = { version: 0, oldest_library: 0 }
  if (made.every(([name]) => !present.has(`${prefix}${name}`))) return { state: 'empty', ...none }
  if (!hasTable(present, `${prefix}ledger`, LEDGER)) return { state: 'drifted', ...none }

  const read = sql<Ledger>`select ${integer('version')}, ${integer('oldest_library')} from ${table('ledger')}`
  const [ledger = none] = yield* rows(database, read, transaction)
  if (ledger.oldest_library > VERSION) return { state: 'too-new', ...ledger }
  if (ledger.version < VERSION) return { state: 'outdated', ...ledger }
  const isWhole = (tables: Present): boolean =>
    made.every(([name, { columns }]) => hasTable(tables, `${prefix}${name}`, columns))
  // Another process may have created tables between the two questions.
  const isCurrent = isWhole(present) || isWhole(yield* tablesOf(database, prefix, transaction))
  return { state: isCurrent ? 'current' : 'drifted', ...ledger }
}

function hasTable(present: Present, name: string, columns: object): boolean {
  const found = present.get(name)
  return found !== undefined && Object.keys(columns).every((column) => found.has(column))
}

/** Reads which tables begin with a prefix. */
function* tablesOf(database: HostDatabase, prefix: string, transaction?: unknown): Steps<Present> {
  const { dialect, schema } = database
  const present = new Map<string, Set<string>>()
  for (const { table, column } of yield* rows(database, CATALOGUE[dialect](prefix, schema), transaction)) {
    present.set(table, (present.get(table) ?? new Set()).add(column))
  }
  return present
}

function rows<Row>(database: HostDatabase, part: Sql<Row>, transaction: unknown): Steps<readonly Row[]> {
  return wait(database.storage.database.rows({ mayTakeLong: true, ...database.statement(part) }, transaction))
}

/** The types of ids, as the ledger of every forge writes them. */
const IDS = 'user=bigint,organization=bigint,repository=bigint,issue=bigint'

/** Returns the statements that create the tables, the ledger first. One that exists stays as it is. */
function createTables(database: HostDatabase): readonly Sql[] {
  const { dialect, schema, forms, table } = database
  const only = raw(forms.name('only'))
  const [ledger = [], ...others] = Object.entries(HOST_TABLES).map(([name, description]) =>
    createTable(database, name, description),
  )
  return [
    ...(dialect === 'postgres' && schema !== undefined ? [createSchema(schema)] : []),
    ...ledger,
    sql`insert into ${table('ledger')} (${only}, version, oldest_library, ids)
      select 1, 0, 0, ${raw(`'${IDS}'`)} where not exists (select * from ${table('ledger')})`,
    ...others.flat(),
  ]
}

/** Returns the statement that assigns new ids behind those of the rows: a logical replication copies rows, and no sequence. */
function assignBehind(database: HostDatabase): Sql {
  const tables = Object.entries(HOST_TABLES).filter(([, { columns }]) => columns['id'] === 'serial')
  const each = tables.map(([name]) => {
    const table = database.qualified(name)
    const sequence = `cast(pg_catalog.pg_get_serial_sequence('${table}', 'id') as regclass)`
    return (
      `select cast(pg_catalog.setval(${sequence}, max(id)) as text) as last from ${table} ` +
      `having max(id) > case when pg_catalog.has_sequence_privilege(${sequence}, 'select') then coalesce(pg_catalog.pg_sequence_last_value(${sequence}), 0) end`
    )
  })
  return raw(each.join(' union all '))
}

/** `create schema if not exists` needs a privilege that a role that was given a schema may not have. */
function createSchema(schema: string): Sql {
  return raw(
    `do $$ begin if not exists (select from pg_catalog.pg_namespace where nspname = '${schema}') ` +
      `then create schema "${schema}"; end if; end $$`,
  )
}

function createTable(database: HostDatabase, name: string, description: TableDescription): readonly Sql[] {
  const { forms, prefix } = database
  const { columns, key, unique, indexes = [] } = description
  const table = database.qualified(name)
  const names = (list: readonly string[]): string => list.map(forms.name).join(', ')
  const constraint = (suffix: string): string => `constraint ${forms.name(`${prefix}${name}_${suffix}`)}`
  const parts = [
    ...Object.entries(columns).map(([column, type]) => `${forms.name(column)} ${columnOf(database, column, type)}`),
    ...(key === undefined ? [] : [`${constraint('pk')} primary key (${names(key)})`]),
    ...(unique === undefined ? [] : [`${constraint(unique.name)} unique (${names(unique.columns)})`]),
  ]
  return [
    raw(`create table if not exists ${table} (${parts.join(', ')}) ${forms.tableEnd(key === undefined)}`),
    ...indexes.map((index) => {
      const indexName = forms.name(`${prefix}${name}_${index.name}`)
      return raw(`create index if not exists ${indexName} on ${table} (${names(index.columns)})`)
    }),
  ]
}

function columnOf(database: HostDatabase, column: string, type: ColumnType): string {
  const { types, name } = database.forms
  if (type === 'serial') return types.serial
  if (type === 'one') return `${types.integer} not null check (${name(column)} = 1)`
  const text = typeof type !== 'string' || type.startsWith('key') ? types.key : types.text
  const [, target] = /^id of (\w+)/.exec(String(type)) ?? []
  const referring = target === undefined ? '' : ` references ${database.qualified(target)} (${name('id')})`
  return `${isText(type) ? text : types.integer}${String(type).endsWith('?') ? '' : ' not null'}${referring}`
}

/** Processes that start together create the tables one after the other. Elsewhere the statements can be repeated, or wait. */
const LOCK = sql`select cast(pg_advisory_xact_lock(hashtextextended('forgelet serve ' || current_database(), 0)) as text) as lock`

interface PresentColumn {
  readonly table: string
  readonly column: string
}

/** Reads the tables and indexes that begin with a prefix, and their columns. Without a schema, those that a plain name reaches. */
const CATALOGUE: Readonly<Record<SqlDialectName, (prefix: string, schema: string | undefined) => Sql<PresentColumn>>> =
  {
    sqlite: (prefix) =>
      sql`select lower(m.name) as "table", coalesce(c.name, '') as "column" from sqlite_master as m
      left join pragma_table_info(m.name) as c where substr(lower(m.name), 1, length(${prefix})) = ${prefix}`,
    postgres: (prefix, schema) =>
      sql`select lower(cast(c.relname as text)) as "table", cast(a.attname as text) as "column" from pg_catalog.pg_class as c
      join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where starts_with(lower(cast(c.relname as text)), ${prefix}) and ${schema === undefined ? VISIBLE : inSchema(schema)}`,
    mariadb: (prefix) =>
      sql`select lower(table_name) as \`table\`, lower(column_name) as \`column\` from information_schema.columns
      where table_schema = database() and left(lower(table_name), char_length(${prefix})) = ${prefix}`,
  }

const VISIBLE = sql`pg_catalog.pg_table_is_visible(c.oid)`

function inSchema(schema: string): Sql {
  return sql`c.relnamespace = (select n.oid from pg_catalog.pg_namespace as n where n.nspname = ${schema})`
}

/** The error of a database that cannot be used as it is. */
export function unavailable(message: string): ForgeError<'STORAGE_UNAVAILABLE'> {
  return new ForgeError('STORAGE_UNAVAILABLE', message, { outcome: 'nothing-done' })
}
