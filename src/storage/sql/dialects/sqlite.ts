import type { Expression, LimitNode, OffsetNode, OperationNode, RawBuilder } from 'kysely'
import { SqliteAdapter, SqliteQueryCompiler, sql } from 'kysely'
import type { SqlDialect } from '../dialect.ts'
import { compilerOnly, textQuery } from '../dialect.ts'

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

/** SQLite. Tables are STRICT. Ids are assigned under the one write lock, so they are in order of commit. */
export const sqliteDialect: SqlDialect = {
  compiler: compilerOnly(new SqliteAdapter(), () => new SqliteCompiler()),
  types: { integer: INTEGER, key: TEXT, text: TEXT, id: IDS },
  casts: { integer: INTEGER, text: TEXT, id: IDS },
  bindsIntegersAsNumbers: true,
  number: (expression) => sql`${expression}`,
  tableEnd: (assignsKey) => (assignsKey ? sql`strict, without rowid` : sql`strict`),
  serialKey: (column) => column.primaryKey().autoIncrement(),
  partialIndexes: true,
  lockingRead: '',
  outboxOrder: 'id',
  removeEvents: (build, ids) => build.deleteFrom('events').where('id', 'in', elements(ids, INTEGER)),
  now: sql`cast(round((julianday('now') - 2440587.5) * 86400000) as integer)`,
  elements,
  jsonRows: (columns) =>
    sql`json_group_array(json_object(${sql.join(columns.flatMap((name) => [sql.lit(name), sql.id(name)]))}))`,
  columns: ({ prefix }) =>
    textQuery(
      'select lower(m.name) as "table", coalesce(c.name, \'\') as "column" from sqlite_master as m ' +
        'left join pragma_table_info(m.name) as c where substr(lower(m.name), 1, length(?)) = ?',
      [prefix, prefix],
    ),
  script: (statements) => ['begin immediate', ...statements, 'commit'],
}

function elements(json: Expression<string>, type: RawBuilder<unknown>): RawBuilder<string> {
  return sql`(select cast(value as ${type}) from json_each(${json}))`
}
