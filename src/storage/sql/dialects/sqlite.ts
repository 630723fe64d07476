import type { Expression, LimitNode, OffsetNode, OperationNode, RawBuilder } from 'kysely'
import { SqliteAdapter, SqliteQueryCompiler, sql } from 'kysely'
import type { MemberFence, SqlDialect } from '../dialect.ts'
import { command, compilerOnly, textQuery } from '../dialect.ts'

const INTEGER = sql`integer`
const TEXT = sql`text`
const IDS = { bigint: INTEGER, uuid: TEXT, text: TEXT }

/**
 * Casts the parameters of LIMIT and OFFSET. The planner of SQLite reads the value of a parameter that is alone there, and so
 * prepares the statement again each time it runs. That took a third of the time of a page of a list.
 */
class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitLimit({ limit }: LimitNode): void {
    this.append('limit ')
    this.#visitCast(limit)
  }

  protected override visitOffset({ offset }: OffsetNode): void {
    this.append('offset ')
    this.#visitCast(offset)
  }

  #visitCast(value: OperationNode): void {
    this.append('cast(')
    this.visitNode(value)
    this.append(' as integer)')
  }
}

/** The types that others declare for such ids. SQLite takes any text of a UUID in a column of the type "uuid", but makes "7" a number. */
const FITTING = { bigint: /int/i, uuid: /char|clob|text|uuid|^$/i, text: /char|clob|text|^$/i }

/** SQLite. Tables are STRICT. Ids are assigned under the one write lock, so they are in order of commit. */
export const sqliteDialect: SqlDialect = {
  name: 'sqlite',
  compiler: compilerOnly(new SqliteAdapter(), () => new SqliteCompiler()),
  types: { integer: INTEGER, key: TEXT, text: TEXT, id: IDS },
  casts: { integer: INTEGER, text: TEXT, id: IDS },
  bindsIntegersAsNumbers: true,
  number: (expression) => sql`${expression}`,
  tableEnd: (assignsKey) => (assignsKey ? sql`strict, without rowid` : sql`strict`),
  serialKey: (column) => column.primaryKey().autoIncrement(),
  partialIndexes: true,
  lockingRead: '',
  exactly: (text) => sql`${text} collate binary`,
  // Hosts store a time as text, as milliseconds, or as seconds.
  milliseconds: (time) =>
    sql`cast(case when typeof(${time}) = 'text' then round((julianday(${time}) - 2440587.5) * 86400000) when ${time} > 100000000000 then ${time} else ${time} * 1000 end as integer)`,
  lockReferred: () => '',
  // Triggers and views cannot refer to a table of an attached database.
  hostColumns: ({ schema, table }) =>
    textQuery(
      `select c.name as "column", c.type, case when c.pk = 1 and (select count(*) from pragma_table_info(?) where pk > 0) = 1
        or exists (select 1 from pragma_index_list(?) as i where i."unique" = 1 and i.partial = 0
          and (select group_concat(name) from pragma_index_info(i.name)) = c.name) then 1 else 0 end as "isUnique",
        '' as lacks, t.misfit, t.misfit as untriggered from pragma_table_xinfo(?) as c,
        (select case when exists (select 1 from sqlite_master where type = 'view' and lower(name) = lower(?)) then 'is a view' else '' end as misfit) as t
        where c.hidden <> 1 and coalesce(?, 'main') = 'main' and exists (select 1 from sqlite_master where lower(name) = lower(?))`,
      [table, table, table, table, schema ?? null, table],
    ),
  isOwnType: () => true,
  fitsType: (ids, type) => FITTING[ids].test(type),
  isTime: () => true,
  privileges: { keys: [], triggers: [] },
  replacesViews: false,
  follows: { by: 'triggers' },
  fence: {
    names: fenceNames,
    create: fence,
    drop: ({ name }) => fenceNames(name).map((one) => sql`drop trigger if exists ${sql.id(one)}`),
  },
  keyNames: ({ prefix }) =>
    textQuery(
      'select name, tbl_name as "on", \'main\' as "schema", 1 as "isReached" from sqlite_master where type = \'trigger\' and substr(name, 1, length(?)) = ?',
      [prefix, prefix],
    ),
  outboxOrder: 'id',
  removeEvents: (build, ids) => build.deleteFrom('events').where('id', 'in', elements(ids, INTEGER)),
  now: sql`cast(round((julianday('now') - 2440587.5) * 86400000) as integer)`,
  elements,
  jsonRows: (columns) =>
    sql`json_group_array(json_object(${sql.join(columns.flatMap((name) => [sql.lit(name), sql.id(name)]))}))`,
  // Only tables are asked for their columns: a view whose table is gone has none, which is an error, and so is NULL on Durable Objects.
  columns: ({ prefix }) =>
    textQuery(
      `select lower(m.name) as "table", c.name as "column" from sqlite_master as m, pragma_table_info(m.name) as c
          where m.type = 'table' and substr(lower(m.name), 1, length(?)) = ?
        union all select lower(name), '' from sqlite_master where type <> 'table' and substr(lower(name), 1, length(?)) = ?`,
      [prefix, prefix, prefix, prefix],
    ),
  views: {
    by: 'texts',
    find: ({ prefix }) =>
      textQuery(
        "select 'create view ' || substr(sql, 13) as text from sqlite_master where type = 'view' and substr(lower(name), 1, length(?)) = ?",
        [prefix, prefix],
      ),
  },
  copying: {
    begin: [command('begin')],
    end: [command('rollback')],
    comparesRows: true,
    givingKeys: sql``,
    lastKey: ({ table }) =>
      textQuery('select coalesce(max(seq), 0) as last from sqlite_sequence where name = ?', [table]),
    assignAfter: ({ table }, last) =>
      [
        textQuery('delete from sqlite_sequence where name = ?', [table]),
        textQuery('insert into sqlite_sequence (name, seq) values (?, cast(? as integer))', [table, last]),
      ].map((statement) => ({ ...statement, returnsRows: false })),
  },
  script: (statements) => ['begin immediate', ...statements, 'commit'],
}

function elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string> {
  return sql`(select cast(value as ${type}) from json_each(${json}))`
}

function fenceNames(name: string): readonly string[] {
  return [`${name}_insert`, `${name}_update`]
}

/** It runs behind the row, so that the condition which rows are memberships can be asked of the table. */
function fence({
  name,
  members,
  organization,
  user,
  where,
  blocks,
  blocked,
}: MemberFence): readonly RawBuilder<unknown>[] {
  const found = sql`select 1 from ${members} where ${organization} = new.${organization} and ${user} = new.${user}`
  const isMember = where === undefined ? sql`` : sql` and exists (${found} and (${where}))`
  const isBlocked = sql`exists (select 1 from ${blocks} where ${blocked.organization} = new.${organization} and ${blocked.user} = new.${user})`
  // Not `update of`, which does not fire when a generated column changes.
  const isMoved =
    where === undefined
      ? sql`(new.${organization} is not old.${organization} or new.${user} is not old.${user}) and `
      : sql``
  return fenceNames(name).map((one, index) => {
    const [event, isNew] = index === 0 ? [sql`insert`, sql``] : [sql`update`, isMoved]
    return sql`create trigger ${sql.id(one)} after ${event} on ${members} when ${isNew}${isBlocked}${isMember} begin select raise(abort, 'the organization blocks this user'); end`
  })
}
