import type { Compilable, Expression, Kysely, RawBuilder } from 'kysely'
import { PostgresAdapter, PostgresQueryCompiler, sql } from 'kysely'
import type { HostTableName, MemberFence, SchemaStatement, SqlDialect, TableLocation } from '../dialect.ts'
import { command, compilerOnly, textQuery } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Tables } from '../schema/tables.ts'

/**
 * Begins the transaction of a migration, and takes the lock of the schema: the names of two prefixes can overlap. It waits
 * for another migration, and for users of a table, who all wait behind it, at most ten seconds. A host's limit for
 * statements is not meant for it.
 */
function begin({ schema }: TableLocation): readonly Statement<{ readonly lock: string }>[] {
  const lock = textQuery<{ lock: string }>(
    "select cast(pg_advisory_xact_lock(hashtextextended('forgelet migrates ' || " +
      'coalesce(cast($1 as text), current_schema()), 0)) as text) as "lock"',
    [schema ?? null],
  )
  return [
    command('begin isolation level read committed read write'),
    command("set local lock_timeout = '10s'"),
    command('set local statement_timeout = 0'),
    command('set local client_min_messages = warning'), // what is dropped need not exist
    { ...lock, mayTakeLong: true },
  ]
}

const BIGINT = sql`bigint`
// Texts have no collation of their own: a host joins its columns with ours, and two collations could not be compared.
const TEXT = sql`text`
const IDS = { bigint: BIGINT, uuid: sql`uuid`, text: TEXT }

/** The types of the host's columns to which a foreign key can refer from a column for such ids. */
const FITTING = { bigint: /^(bigint|integer|smallint)$/, uuid: /^uuid$/, text: /^(text|character varying)/ }

/** PostgreSQL 13 and newer. */
export const postgresDialect: SqlDialect = {
  name: 'postgres',
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
  readsSnapshot: sql`pg_catalog.current_setting('transaction_isolation') <> 'read committed'`,
  exactly: (text) => sql`cast(${text} as ${TEXT})`,
  milliseconds: (time) => sql`extract(epoch from ${time}) * 1000`,
  // A key share lets others change the other columns of the row, such as the title of an issue.
  hostColumns: (table) =>
    textQuery(
      `select cast(a.attname as text) as "column", pg_catalog.replace(pg_catalog.format_type(coalesce(nullif(t.typbasetype, 0), a.atttypid), a.atttypmod), '"', '') as "type", cast(case when exists (
        select from pg_catalog.pg_index as i where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indimmediate
          and i.indpred is null and i.indexprs is null and i.indnkeyatts = 1 and i.indkey[0] = a.attnum) then 1 else 0 end as double precision) as "isUnique",
        pg_catalog.concat_ws(',', case when not pg_catalog.has_column_privilege(c.oid, a.attnum, 'select') then 'SELECT' end,
          case when not pg_catalog.has_any_column_privilege(c.oid, 'update') then 'UPDATE' end,
          case when not pg_catalog.has_any_column_privilege(c.oid, 'references') then 'REFERENCES' end,
          case when not pg_catalog.has_table_privilege(c.oid, 'trigger') then 'TRIGGER' end,
          case when pg_catalog.row_security_active(c.oid) then 'BYPASSRLS' end) as "lacks",
        case when c.relkind not in ('r', 'p') then 'is not a table' when c.relpersistence <> 'p' then 'is unlogged or temporary'
          when c.relkind = 'r' and exists (select from pg_catalog.pg_inherits as h where h.inhparent = c.oid) then 'has rows in tables that inherit from it' else '' end as "misfit",
        case when c.relkind not in ('r', 'p') then 'is not a table' when cast(a.attgenerated as text) = 'v' then 'computes ' || cast(a.attname as text) || ' when it is read' else '' end as "untriggered"
        from pg_catalog.pg_class as c join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        join pg_catalog.pg_type as t on t.oid = a.atttypid
        where c.oid = pg_catalog.to_regclass($1) order by a.attnum`,
      [qualified(table)],
    ),
  isOwnType: () => true,
  fitsType: (ids, type) => FITTING[ids].test(type),
  isTime: (type) => /^(timestamp|date)/.test(type),
  seesAllRows: (table) => sql`not pg_catalog.row_security_active(${sql.lit(qualified(table))})`,
  // A user who does not see every row would remove what refers to the others.
  privileges: { keys: ['SELECT', 'UPDATE', 'REFERENCES', 'BYPASSRLS'], triggers: ['TRIGGER', 'BYPASSRLS'] },
  replacesViews: true,
  follows: { by: 'keys', dropped: 'constraint', renamed: [] },
  fence: {
    names: (name) => [name],
    create: fence,
    drop: (of) => [sql`drop function if exists ${fenceFunction(of)} cascade`],
  },
  keyNames: ({ schema, prefix }) =>
    textQuery(
      `select cast(k.conname as text) as "name", ${ON} from pg_catalog.pg_constraint as k ` +
        'join pg_catalog.pg_class as c on c.oid = k.conrelid join pg_catalog.pg_class as r on r.oid = k.confrelid ' +
        `where k.contype = 'f' and k.conparentid = 0 and k.convalidated and pg_catalog.starts_with(cast(k.conname as text), $1) and ${isIn(schema)} ` +
        "and not exists (select from pg_catalog.pg_trigger as o where o.tgconstraint = k.oid and o.tgenabled not in ('O', 'A')) " +
        `union all select cast(t.tgname as text), ${ON} from pg_catalog.pg_trigger as t ` +
        "join pg_catalog.pg_class as r on r.oid = t.tgrelid join pg_catalog.pg_proc as p on p.oid = t.tgfoid where not t.tgisinternal and t.tgparentid = 0 and t.tgenabled in ('O', 'A') and p.prosecdef " +
        `and pg_catalog.starts_with(cast(t.tgname as text), $1) and ${isIn(schema, 'function')} and ${findsHeads(schema)}`,
      schema === undefined ? [prefix] : [prefix, schema],
    ),
  // A foreign key locks the row to which it refers against removal, but not against a change that hides it.
  lockReferred: (isConditional) => (isConditional ? ' for share' : ''),
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
  views: {
    by: 'tables',
    find: ({ schema, prefix }) =>
      textQuery(
        `select distinct cast(c.relname as text) as "name", ${ON} from pg_catalog.pg_class as c ` +
          'join pg_catalog.pg_rewrite as w on w.ev_class = c.oid join pg_catalog.pg_depend as d on d.objid = w.oid ' +
          "join pg_catalog.pg_class as r on r.oid = d.refobjid where d.classid = cast('pg_catalog.pg_rewrite' as regclass) " +
          "and d.refclassid = cast('pg_catalog.pg_class' as regclass) and c.relkind = 'v' " +
          `and pg_catalog.starts_with(cast(c.relname as text), $1) and ${isIn(schema)}`,
        schema === undefined ? [prefix] : [prefix, schema],
      ),
  },
  createSchema,
  readOnly: textQuery('select \'it is a standby\' as "why" where pg_catalog.pg_is_in_recovery()'),
  migration: {
    begin,
    end: [command('commit')],
    abandon: command('rollback'),
  },
  copying: {
    begin: [
      command('begin isolation level repeatable read read only'),
      command('set local statement_timeout = 0'),
      command('set local idle_in_transaction_session_timeout = 0'),
    ],
    end: [command('rollback')],
    comparesRows: true,
    givingKeys: sql`overriding system value`,
    lastKey: (table) =>
      textQuery(
        `select cast(coalesce(pg_catalog.pg_sequence_last_value(${SEQUENCE}), 0) as double precision) as "last"`,
        [qualified(table)],
      ),
    assignAfter: (table, last) => [
      textQuery(`select cast(pg_catalog.setval(${SEQUENCE}, $2) as double precision) as "last"`, [
        qualified(table),
        last,
      ]),
    ],
  },
  overtaken: (table) =>
    textQuery(
      `select cast(max(id) as double precision) as "last" from ${qualified(table)} having max(id) > ` +
        `case when pg_catalog.has_sequence_privilege(${SEQUENCE}, 'select') then coalesce(pg_catalog.pg_sequence_last_value(${SEQUENCE}), 0) end`,
      [qualified(table)],
    ),
  script: (statements) => ['begin', ...statements, 'commit'],
}

/** The sequence of the keys of a table. */
const SEQUENCE = "cast(pg_catalog.pg_get_serial_sequence($1, 'id') as regclass)"

/** A table that a key refers to, as `KeyName` has it. */
const ON =
  'cast(r.relname as text) as "on", (select cast(n.nspname as text) from pg_catalog.pg_namespace as n where n.oid = r.relnamespace) as "schema", ' +
  'cast(cast(pg_catalog.pg_table_is_visible(r.oid) as integer) as double precision) as "isReached"'

/** Returns the name of a table as statements have it. */
function qualified({ schema, table }: HostTableName): string {
  const names = schema === undefined ? [table] : [schema, table]
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')
}

function elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string> {
  return sql`(select cast(value as ${type}) from pg_catalog.json_array_elements_text(cast(cast(${json} as text) as json)))`
}

function numberEvents(build: Kysely<Tables>, ids: Expression<string>, last: Expression<number>): Compilable<unknown> {
  const numbered = sql<{
    id: string
    ordinal: number
  }>`pg_catalog.json_array_elements_text(cast(cast(${ids} as text) as json)) with ordinality`
  return build
    .updateTable('events')
    .from(numbered.as<'numbered'>(sql`numbered(id, ordinal)`))
    .set({ position: sql<number>`${last} + ${sql.ref('numbered.ordinal')}` })
    .where('events.id', '=', sql<string>`cast(${sql.ref('numbered.id')} as bigint)`)
}

/** Without a schema option, our tables are those that an unqualified name reaches. */
function isIn(schema: TableLocation['schema'], what: 'table' | 'function' = 'table'): string {
  const [of, namespace] = what === 'table' ? ['c.oid', 'c.relnamespace'] : ['p.oid', 'p.pronamespace']
  if (schema === undefined) return `pg_catalog.pg_${what}_is_visible(${of})`
  return `${namespace} = (select n.oid from pg_catalog.pg_namespace as n where n.nspname = $2)`
}

/** The condition that the function of a trigger finds our tables: it has the name of their schema, which may be another by now. */
function findsHeads(schema: TableLocation['schema']): string {
  if (schema !== undefined) return `pg_catalog.strpos(p.prosrc, '"' || $2 || '"."' || $1 || 'heads"') > 0`
  return (
    'exists (select from pg_catalog.unnest(p.proconfig) as s (setting), pg_catalog.pg_class as c ' +
    `join pg_catalog.pg_namespace as n on n.oid = c.relnamespace where c.relname = $1 || 'heads' and ${isIn(schema)} ` +
    "and pg_catalog.quote_ident(cast(n.nspname as text)) = any (pg_catalog.string_to_array(pg_catalog.substr(s.setting, 13), ', ')))"
  )
}

function fenceFunction({ name, schema }: Pick<MemberFence, 'name' | 'schema'>): RawBuilder<unknown> {
  return schema === undefined ? sql.id(name) : sql.id(schema, name)
}

/**
 * A new member takes the head of the organization shared: members do not wait for each other, only for a block of their
 * organization. A head that is missing is created, so that the block has to wait for it. The function has the rights of who
 * migrates: from who adds a member, row-level security may hide that member.
 */
function fence(of: MemberFence): readonly RawBuilder<unknown>[] {
  const { name, members, organization, user, where, heads, blocks, blocked } = of
  const made = fenceFunction(of)
  const key = sql`cast(new.${organization} as text)`
  const pair = sql`${organization} = new.${organization} and ${user} = new.${user}`
  const isMember = where === undefined ? sql`` : sql` and exists (select from ${members} where ${pair} and (${where}))`
  // With a `where`, a row may become a membership without a new id: then every update is checked.
  const isSame =
    where === undefined ? sql` or new.${organization} = old.${organization} and new.${user} = old.${user}` : sql``
  return [
    sql`create function ${made}() returns trigger language plpgsql security definer set row_security to off as $forgelet$ begin
  if new.${organization} is null${isSame} then
    return new;
  end if;
  insert into ${heads} (scope, key, version, epoch, retired, total, next_seq)
    values ('organization', ${key}, 0, 0, 0, 0, 1) on conflict do nothing;
  perform from ${heads} where scope = 'organization' and key = ${key} for share;
  if exists (select from ${blocks} where ${blocked.organization} = new.${organization} and ${blocked.user} = new.${user})${isMember} then
    raise exception 'the organization blocks this user'
      using errcode = 'check_violation', constraint = ${sql.lit(name)}, table = tg_table_name;
  end if;
  return new;
end $forgelet$`,
    // The function uses the search path of the migration. `from current` would keep "$user": the user who adds the member,
    // whose temporary tables would be in front if they were not named.
    sql`do $do$ begin execute (select 'alter function ${made}() set search_path to ' || coalesce(
  pg_catalog.string_agg(pg_catalog.quote_ident(cast(path.name as text)), ', ') || ', ', '') || 'pg_temp' from pg_catalog.unnest(pg_catalog.current_schemas(false)) as path (name)); end $do$`,
    sql`revoke execute on function ${made}() from public`, // otherwise any user could learn whom an organization blocks, by a trigger
    // After the row, because generated columns and triggers of the host fill it in.
    sql`create trigger ${sql.id(name)} after insert or update on ${members} for each row execute function ${made}()`,
  ]
}

/** `create schema if not exists` needs a privilege that a role that was given a schema may not have. */
function createSchema(schema: string): SchemaStatement {
  return command(
    `do $$ begin if not exists (select from pg_catalog.pg_namespace where nspname = '${schema}') ` +
      `then create schema "${schema}"; end if; end $$`,
  )
}
