import type { Expression, RawBuilder } from 'kysely'
import { MysqlAdapter, MysqlQueryCompiler, sql } from 'kysely'
import type { MemberFence, SqlDialect } from '../dialect.ts'
import { command, compilerOnly, textQuery } from '../dialect.ts'
import { rawQuery } from '../query.ts'

/**
 * The names of two prefixes can overlap, so both take the one lock of their database. Its name is at most 64 characters
 * long, and shared by all databases of the server.
 */
const LOCK = "concat('forgelet migrates ', sha1(database()))"

/** How long a migration waits for another, and for users of a table, who all wait behind it: in seconds. */
const LOCK_WAIT = 10

/** A host's limit for statements is not meant for a migration. */
const LIMITS = `lock_wait_timeout = ${LOCK_WAIT}, innodb_lock_wait_timeout = ${LOCK_WAIT}, max_statement_time = 0, sql_safe_updates = 0`

/** What is before the settings of one statement. */
const SETTING = 'set statement '

/** Where connections do not commit by themselves, a read has begun a transaction, and what is written stays in it. */
const COMMIT = command('commit')

/** Returns a row on a Galera cluster, whose nodes do not see each other's locks. */
const IS_CLUSTER = textQuery<unknown>(
  "select 1 as found from information_schema.global_variables where variable_name = 'WSREP_ON' and variable_value = 'ON'",
)

/** How long a migration keeps other nodes waiting, in milliseconds, if its process is killed. */
const LEASE_MS = 300_000

/** The table of the lease has no prefix: the names of two prefixes can overlap, so all in the database share it. */
const LEASES = 'migrations_of_forgelet'
const NODE = "concat(@@hostname, ':', @@port)"
const NOW = "timestampdiff(microsecond, timestamp '1970-01-01 00:00:00', utc_timestamp(3)) div 1000"

/** A process that has the lock of its node takes the lease also from another process there: that one has ended. */
const LEASE = [
  `create table if not exists ${LEASES} (only int primary key, node varchar(255) not null, until bigint not null) engine = InnoDB`,
  `insert ignore into ${LEASES} values (1, '', 0)`,
  `update ${LEASES} set node = ${NODE}, until = ${NOW} + ${LEASE_MS} where only = 1 and (until < ${NOW} or node = ${NODE})`,
  'commit',
].map((text) => command(text))
const HAS_LEASE = `select if(node = ${NODE} and until > ${NOW}, 'taken', 'busy') as \`lock\` from ${LEASES} where only = 1`
const GIVE_LEASE = [command(`update ${LEASES} set until = 0 where only = 1 and node = ${NODE}`), COMMIT]

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

const OWN_TYPES = {
  bigint: /^bigint(\(\d+\))?$/,
  uuid: /^uuid$/,
  text: /^varchar\(64\) character set utf8mb4 collate utf8mb4_nopad_bin$/,
}
/** The types of the host's columns whose ids can be in our columns. With `zerofill`, 7 is read as 0007, which is another id. */
const FITTING = { bigint: /^(tiny|small|medium|big)?int(?!.*zerofill)/, uuid: /^uuid$/, text: /^(var)?char/ }

/** A name of a user may have an @, and what follows the last one is the host. */
const HOST = "substring_index(current_user(), '@', -1)"
const USER = `left(current_user(), char_length(current_user()) - char_length(${HOST}) - 1)`

/**
 * The condition that the user lacks a privilege on the table of the host `t`. What a role gives cannot be seen: it is assumed.
 */
const LACKS = (privilege: string): string => {
  const by = (table: string, where: string) =>
    `exists (select 1 from information_schema.${table} as p where p.privilege_type = '${privilege}' ` +
    `and p.grantee = concat('''', ${USER}, '''@''', ${HOST}, '''')${where})`
  return (
    `(current_role() is null and not ${by('user_privileges', '')} and not ${by('schema_privileges', ' and t.table_schema like p.table_schema')} ` +
    `and not ${by('table_privileges', ' and p.table_schema = t.table_schema and p.table_name = t.table_name')})`
  )
}

/** The condition that a row is of the table with this name. Where the name comes from a join, the server opens every table. */
const isNamed = (alias: string): string => `${alias}.table_schema = coalesce(?, database()) and ${alias}.table_name = ?`

/** MariaDB 10.6 and newer. MySQL itself has no RETURNING. */
export const mariadbDialect: SqlDialect = {
  name: 'mariadb',
  compiler: compilerOnly(new MysqlAdapter(), () => new MysqlQueryCompiler()),
  types: {
    integer: BIGINT,
    key: sql`varchar(255) ${EXACT}`,
    text: sql`longtext ${EXACT}`,
    id: { bigint: BIGINT, uuid: UUID, text: sql`varchar(64) ${EXACT}` },
  },
  casts: { integer: SIGNED, text: CHAR, id: { bigint: SIGNED, uuid: UUID, text: CHAR } },
  uncast: CHAR,
  bindsIntegersAsNumbers: false,
  // A host may configure its driver to return integers as text, or decimals as numbers or the reverse. A double is
  // always a number.
  number: (expression) => sql`cast(${expression} as double)`,
  tableEnd: () => TABLE_END,
  serialKey: (column) => column.primaryKey().autoIncrement(),
  partialIndexes: false,
  // The other nodes of a Galera cluster see no lock, only that two transactions have changed a row.
  lockExisting: (insert) => insert.onDuplicateKeyUpdate((row) => ({ version: row('heads.version', '+', 1) })),
  // A shared lock, so that users who are granted the same badge at once do not wait for each other.
  lockingRead: ' lock in share mode',
  anyCollation: (text) => sql`${text} collate utf8mb4_nopad_bin`,
  exactly: (text) => sql`cast(${text} as ${CHAR}) collate utf8mb4_nopad_bin`,
  milliseconds: (time) => sql`timestampdiff(microsecond, timestamp '1970-01-01 00:00:00', ${time}) div 1000`,
  lockReferred: () => ' lock in share mode',
  hostColumns: ({ schema, table }) => {
    const which = [schema ?? null, table]
    return textQuery(
      `select c.column_name as \`column\`, concat(c.column_type, if(c.collation_name is null, '',
          concat(' character set ', c.character_set_name, ' collate ', c.collation_name))) as type,
        cast(c.column_name in (select min(s.column_name) from information_schema.statistics as s where ${isNamed('s')}
          group by s.index_name having count(*) = 1 and max(s.non_unique) = 0) as double) as isUnique,
        concat_ws(',', if(@@log_bin and not @@log_bin_trust_function_creators and ${LACKS('SUPER')},
          'log_bin_trust_function_creators = 1 or SUPER', null), if(${LACKS('TRIGGER')}, 'TRIGGER', null),
          if(${LACKS('REFERENCES')}, 'REFERENCES', null)) as lacks,
        case when t.table_type like '%VIEW' then 'is a view' when t.engine <> 'InnoDB' then concat('is stored by ', t.engine, ', which has no foreign keys')
          when t.create_options like '%partitioned%' then 'is partitioned, so that no foreign key can refer to it' else '' end as misfit,
        case when t.table_type like '%VIEW' then 'is a view' when c.table_schema <> database() then 'is in another schema' else '' end as untriggered
        from information_schema.columns as c join information_schema.tables as t on ${isNamed('t')}
        where ${isNamed('c')} order by c.ordinal_position`,
      [...which, ...which, ...which],
    )
  },
  isOwnType: (ids, type) => OWN_TYPES[ids].test(type),
  fitsType: (ids, type) => FITTING[ids].test(type),
  isTime: (type) => /^(date|timestamp)/.test(type),
  privileges: { keys: ['REFERENCES'], triggers: ['TRIGGER', 'log_bin_trust_function_creators = 1 or SUPER'] },
  replacesViews: true,
  follows: {
    by: 'keys',
    dropped: 'foreign key',
    renamed: ['_', '__'], // by pt-online-schema-change
    unchecked: sql.raw(`${SETTING}foreign_key_checks = 0 for `),
  },
  fence: {
    names: fenceNames,
    create: fence,
    drop: ({ name }) => fenceNames(name).map((one) => sql`drop trigger if exists ${sql.id(one)}`),
  },
  keyNames: ({ prefix }) =>
    textQuery(
      // Its table of the constraints alone is empty for a user whose privileges are on tables.
      `select regexp_replace(lower(constraint_name), '^_{1,2}(?=${prefix})', '') as name, referenced_table_name as \`on\`, ` +
        'referenced_table_schema as `schema`, cast(referenced_table_schema = database() as double) as isReached ' +
        'from information_schema.key_column_usage where table_schema = database() and referenced_table_name is not null ' +
        `and lower(constraint_name) regexp '^_{0,2}${prefix}' ` +
        'union all select lower(trigger_name), event_object_table, event_object_schema, 1 from information_schema.triggers ' +
        'where trigger_schema = database() and left(lower(trigger_name), char_length(?)) = ?',
      [prefix, prefix],
    ),
  outboxOrder: 'position',
  numberEvents: (build, ids, last) =>
    rawQuery(
      build,
      sql`update ${listed(ids)} straight_join ${sql.table('events')} as event force index (primary) on event.id = listed.id set event.position = ${last} + listed.ordinal`,
    ),
  removeEvents: (build, ids) =>
    rawQuery(
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
  views: { by: 'reading' },
  readOnly: textQuery("select 'read_only = ON' as why from dual where @@global.read_only not in ('0', 'OFF')"),
  repeatable: (text) =>
    text
      .replace(/^create (table|index|unique index) (?!if not exists)/, 'create $1 if not exists ')
      .replace(/^create view /, 'create view if not exists ')
      .replaceAll(/ add column (?!if not exists)/g, ' add column if not exists '),
  migration: {
    begin: () => [
      {
        ...textQuery<{ lock: string }>(
          `${SETTING}${LIMITS} for select if(get_lock(${LOCK}, ${LOCK_WAIT}) = 1, 'taken', 'busy') as \`lock\``,
        ),
        mayTakeLong: true,
      },
      COMMIT,
    ],
    limited: (text) =>
      text.startsWith(SETTING) ? text.replace(SETTING, `${SETTING}${LIMITS}, `) : `${SETTING}${LIMITS} for ${text}`,
    end: [COMMIT, UNLOCK],
    abandon: UNLOCK,
    lease: {
      needed: IS_CLUSTER,
      take: [...LEASE, { ...textQuery<{ lock: string }>(HAS_LEASE), asWritten: true }],
      give: GIVE_LEASE,
    },
  },
  copying: {
    begin: [
      command('set @forgelet_idle = @@idle_transaction_timeout, session idle_transaction_timeout = 0'),
      command('set transaction isolation level repeatable read'),
      command('start transaction with consistent snapshot, read only'),
    ],
    end: [command('rollback'), command('set session idle_transaction_timeout = @forgelet_idle')],
    comparesRows: false,
    givingKeys: sql``,
    lastKey: ({ table }) =>
      textQuery(
        'select cast(coalesce(max(auto_increment), 1) - 1 as double) as last from information_schema.tables ' +
          'where table_schema = database() and table_name = ?',
        [table],
      ),
    assignAfter: ({ table }, last) => [command(`alter table \`${table}\` auto_increment = ${last + 1}`)],
  },
  script: (statements) => statements,
}

/**
 * Returns the elements of a JSON list of integers with their positions. Join it by `straight_join` with the index forced,
 * to find rows by their key: on a small table MariaDB would otherwise read all rows, and wait for those that are not
 * committed.
 */
function listed(json: Expression<string>): RawBuilder<unknown> {
  return sql`json_table(${json}, '$[*]' columns (ordinal for ordinality, id bigint path '$')) as listed`
}

/**
 * The length exceeds that of any key, so a text that is cut to it matches no key. A text has a collation that it is compared by
 * whatever that of the column is: there are others that end in _bin.
 */
function elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string> {
  const value = type === CHAR ? sql`element collate utf8mb4_nopad_bin` : sql`cast(element as ${type})`
  return sql`(select ${value} from json_table(${json}, '$[*]' columns (element varchar(256) ${EXACT} path '$')) as list)`
}

/**
 * The triggers before the row lock the head, and refuse what they can judge already, because not every engine undoes a row. The
 * triggers after the row see what other triggers have changed, and can query the table for memberships.
 */
const FENCE_TRIGGERS = (['insert', 'update'] as const).flatMap((event) => [
  { suffix: `${event}_lock`, time: 'before', event },
  { suffix: event, time: 'after', event },
])

function fenceNames(name: string): readonly string[] {
  return FENCE_TRIGGERS.map(({ suffix }) => `${name}_${suffix}`)
}

/**
 * A new member takes the head of the organization shared: members do not wait for each other, only for a block of their
 * organization. A head that is missing is created, so that the block has to wait for it. It is looked for without a lock:
 * at REPEATABLE READ two members that lock the gap would refuse each other the row.
 */
function fence({
  name,
  members,
  organization,
  user,
  where,
  heads,
  blocks,
  blocked,
}: MemberFence): readonly RawBuilder<unknown>[] {
  const key = sql`cast(new.${organization} as char character set utf8mb4)`
  const pair = sql`${organization} = new.${organization} and ${user} = new.${user}`
  const head = sql`${heads} where scope = 'organization' and ${sql.id('key')} = ${key}`
  const lock = sql`
  if new.${organization} is not null and not exists (select 1 from ${head}) then
    insert ignore into ${heads} (scope, ${sql.id('key')}, version, epoch, retired, total, next_seq) values ('organization', ${key}, 0, 0, 0, 0, 1);
  end if;
  do (select count(*) from ${head} lock in share mode);`
  const isMember =
    where === undefined ? sql`` : sql` and exists (select 1 from ${members} where ${pair} and (${where}))`
  const check = sql`
  if exists (select 1 from ${blocks} where ${blocked.organization} = new.${organization} and ${blocked.user} = new.${user} lock in share mode)${isMember} then
    signal sqlstate '45000' set message_text = 'the organization blocks this user', constraint_name = ${sql.lit(name)};
  end if;`
  // A trigger of MariaDB has no list of columns, so it compares the ids. With a `where`, a row may become a membership without a
  // new id: then every update is checked.
  const isMoved = sql`not (new.${organization} <=> old.${organization} and new.${user} <=> old.${user})`
  return FENCE_TRIGGERS.map(({ suffix, time, event }) => {
    const trigger = sql`${sql.id(`${name}_${suffix}`)} ${sql.raw(time)} ${sql.raw(event)} on ${members}`
    const body = sql`begin${lock}${time === 'after' || where === undefined ? check : sql``}
end`
    return sql`create trigger ${trigger} for each row ${event === 'update' && where === undefined ? sql`if ${isMoved} then ${body}; end if` : body}`
  })
}
