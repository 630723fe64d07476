import type { Sql } from './sql.ts'
import { raw, sql } from './sql.ts'
import type { ColumnType, HostContext, TableDescription } from './tables.ts'
import { HOST_TABLES, isText, qualified } from './tables.ts'

/** One row: the version of the tables, the oldest version of a release that can use them, and the types of ids. */
export const LEDGER: TableDescription = {
  columns: { only: 'integer', version: 'integer', oldest_library: 'integer', ids: 'text' },
  key: ['only'],
}

/** The types of ids, as the ledger of every forge writes them. */
const IDS = 'user=bigint,organization=bigint,repository=bigint,issue=bigint'

/** Returns the statements that create the tables, the ledger first. One that exists stays as it is. */
export function createTables(context: HostContext): readonly Sql[] {
  const { dialect, schema, forms, table } = context
  const only = raw(forms.name('only'))
  return [
    ...(dialect === 'postgres' && schema !== undefined ? [createSchema(schema)] : []),
    ...createTable(context, 'ledger', LEDGER),
    sql`insert into ${table('ledger')} (${only}, version, oldest_library, ids)
      select 1, 0, 0, ${raw(`'${IDS}'`)} where not exists (select * from ${table('ledger')})`,
    ...Object.entries(HOST_TABLES).flatMap(([name, description]) => createTable(context, name, description)),
  ]
}

/** `create schema if not exists` needs a privilege that a role that was given a schema may not have. */
function createSchema(schema: string): Sql {
  return raw(
    `do $$ begin if not exists (select from pg_catalog.pg_namespace where nspname = '${schema}') ` +
      `then create schema "${schema}"; end if; end $$`,
  )
}

function createTable(context: HostContext, name: string, description: TableDescription): readonly Sql[] {
  const { forms, prefix } = context
  const { columns, key, unique, indexes = [] } = description
  const table = qualified(forms, context, name)
  const names = (list: readonly string[]): string => list.map(forms.name).join(', ')
  const constraint = (suffix: string): string => `constraint ${forms.name(`${prefix}${name}_${suffix}`)}`
  const parts = [
    ...Object.entries(columns).map(([column, type]) => `${forms.name(column)} ${columnOf(context, column, type)}`),
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

function columnOf(context: HostContext, column: string, type: ColumnType): string {
  const { types, name } = context.forms
  if (type === 'serial') return types.serial
  if (column === 'only') return `${types.integer} not null check (${name('only')} = 1)`
  const text = typeof type !== 'string' || type.startsWith('key') ? types.key : types.text
  const [, target] = /^id of (\w+)/.exec(String(type)) ?? []
  const referring =
    target === undefined ? '' : ` references ${qualified(context.forms, context, target)} (${name('id')})`
  return `${isText(type) ? text : types.integer}${String(type).endsWith('?') ? '' : ' not null'}${referring}`
}
