import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { SqlContext } from '../sql-context.ts'
import type { Tables } from '../tables.ts'
import type { SchemaStatement } from './schema-statement.ts'
import { schemaStatement } from './schema-statement.ts'

/** An index on a table that was there before, and may be large and in use. */
export interface NewIndex {
  /** Without the storage's prefix. */
  readonly name: string
  readonly table: keyof Tables
  readonly columns: readonly string[]
  readonly unique?: true
  /** Which rows are in it, where an index can leave some out. */
  readonly where?: { readonly column: string; readonly is: 'null' | 'not null' }
}

/** The statement that makes an index in the manner of the database. */
export function newIndexStatement(context: SqlContext, index: NewIndex): SchemaStatement {
  const { build, prefix, dialect } = context
  const made = { name: `${prefix}${index.name}`, table: `${prefix}${index.table}` }
  const create = index.unique ? sql`create unique index` : sql`create index`
  const columns = sql.join(index.columns.map((column) => sql.ref(column)))
  const query = sql`${create} ${dialect.newIndex} ${sql.id(made.name)} on ${sql.table(index.table)} (${columns})${rows(context, index)}`
  return { ...schemaStatement({ compile: () => query.compile(build) }), makes: made }
}

function rows({ dialect }: SqlContext, { where }: NewIndex): RawBuilder<unknown> {
  if (where === undefined || !dialect.partialIndexes) return sql``
  return where.is === 'null'
    ? sql` where ${sql.ref(where.column)} is null`
    : sql` where ${sql.ref(where.column)} is not null`
}
