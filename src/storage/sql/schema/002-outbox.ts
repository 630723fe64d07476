import type { Compilable } from 'kysely'
import { sql } from 'kysely'
import type { SqlContext } from '../context.ts'
import { schemaStatement } from '../dialect.ts'
import type { Migration, NewIndex } from './migration.ts'
import type { OutboxTables } from './tables.ts'

type Ddl = readonly Compilable<unknown>[]

const TABLES: Readonly<Record<keyof OutboxTables, (context: SqlContext) => Ddl>> = { outbox: head, consumers }

/** What is needed to number the outbox, to consume it under names, and to prune it. */
export const outbox: Migration = {
  version: 2,
  oldestLibrary: 1,
  indexes: order,
  statements: (context) =>
    Object.values(TABLES)
      .flatMap((table) => table(context))
      .map(schemaStatement),
}

function head({ build, dialect: { types, tableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('outbox')
      .addColumn('only', types.integer, (column) => column.primaryKey().check(sql`${sql.ref('only')} = 1`))
      .addColumn('last_position', types.integer, (column) => column.notNull())
      .addColumn('floor', types.integer, (column) => column.notNull())
      .modifyEnd(tableEnd),
    build
      .insertInto('outbox')
      .columns(['only', 'last_position', 'floor'])
      // A step that ended halfway is run again.
      .expression(sql`select 1, 0, 0 where not exists (select * from ${sql.table('outbox')})`),
  ]
}

function consumers({ build, dialect: { types, keyedTableEnd } }: SqlContext): Ddl {
  return [
    build.schema
      .createTable('consumers')
      .addColumn('name', types.key, (column) => column.primaryKey().notNull())
      .addColumn('position', types.integer, (column) => column.notNull())
      .addColumn('holder', types.key)
      .addColumn('until', types.integer, (column) => column.notNull())
      .modifyEnd(keyedTableEnd),
  ]
}

/** If ids are in order of commit, the key of the events is already the order. */
function order({ dialect: { outboxOrder, partialIndexes } }: SqlContext): readonly NewIndex[] {
  if (outboxOrder === 'id') return []

  // The id as second column lets the database find the first events without a position without reading all of them.
  if (!partialIndexes) return [{ name: 'events_position', table: 'events', columns: ['position', 'id'] }]

  return [
    { name: 'events_position', table: 'events', columns: ['position'], unique: true },
    { name: 'events_unnumbered', table: 'events', columns: ['id'], where: { column: 'position', is: 'null' } },
  ]
}
