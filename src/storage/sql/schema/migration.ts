import type { Compilable, RawBuilder, RootOperationNode } from 'kysely'
import { sql } from 'kysely'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { SqlContext } from '../context.ts'
import type { Place } from '../dialect.ts'
import type { Statement } from '../query.ts'
import { compileStatement } from '../query.ts'
import type { Queryable } from '../session.ts'
import type { Tables } from '../tables.ts'
import type { SchemaVersion } from './ledger.ts'

/** One step of the schema. Once released it never changes. */
export interface Migration {
  /** 1, 2, 3 … */
  readonly version: number
  /** The oldest library, by its schema's version, that can use the tables after this step. Minor versions only add. */
  readonly oldestLibrary: number
  /**
   * New indexes on tables and columns that earlier steps made. They are made first, where that is possible without
   * stopping who reads and writes there; so an index on a column that this step adds has to wait for the next step.
   */
  indexes(context: SqlContext): readonly NewIndex[]
  /** New tables with their indexes, new views, new columns: all or none, where the database can. */
  statements(context: SqlContext): readonly SchemaStatement[]
}

/** A table, view, index or trigger, by its name in the database. */
export interface SchemaThing {
  readonly name: string
  /** The table that an index or a trigger is on; of a table or view, its own name. */
  readonly table: string
}

/** A statement that changes the schema. */
export interface SchemaStatement extends Statement<unknown> {
  /** Undefined when it makes nothing with a name of its own. */
  readonly makes: SchemaThing | undefined
}

/** Compiles a statement that changes the schema. */
export function schemaStatement(query: Compilable<unknown>): SchemaStatement {
  return { ...compileStatement(query), makes: madeBy(query.compile().query) }
}

/** A statement that is written out, and what it makes. */
export function writtenStatement(sql: string, makes?: SchemaThing): SchemaStatement {
  return { sql, parameters: [], returnsRows: false, makes }
}

function madeBy(node: RootOperationNode): SchemaThing | undefined {
  switch (node.kind) {
    case 'CreateTableNode': {
      const { name } = node.table.table.identifier
      return { name, table: name }
    }
    case 'CreateViewNode': {
      const { name } = node.name.identifier
      return { name, table: name }
    }
    case 'CreateIndexNode':
      return { name: node.name.name, table: node.table?.table.identifier.name ?? '' }
    default:
      return undefined
  }
}

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

/** Makes the ledger, before the first step; of a schema that does not exist yet, the schema too. */
export function createLedger(context: SqlContext): readonly SchemaStatement[] {
  return [...context.dialect.createSchema(context.schema), ledgerTable(context), ledgerRow(context)]
}

/** Notes that a step is taken, together with it. */
function noteTaken({ build }: SqlContext, { version, oldestLibrary }: SchemaVersion): SchemaStatement {
  return schemaStatement(
    build.updateTable('ledger').set({ version: sql.lit(version), oldest_library: sql.lit(oldestLibrary) }),
  )
}

/** Notes that a step is begun: where it may end halfway, nobody shall use tables meanwhile that will not be for him. */
function noteBegun({ build }: SqlContext, { version, oldestLibrary }: SchemaVersion): SchemaStatement {
  return schemaStatement(
    build.updateTable('ledger').set({ begun: sql.lit(version), oldest_library: sql.lit(oldestLibrary) }),
  )
}

function ledgerTable({ build, dialect }: SqlContext): SchemaStatement {
  const { types, tableEnd, ddlCommitsItself } = dialect
  return schemaStatement(
    build.schema
      .createTable('ledger')
      .addColumn('only', types.integer, (column) => column.primaryKey().check(sql`${sql.ref('only')} = 1`))
      .addColumn('version', types.integer, (column) => column.notNull())
      .addColumn('oldest_library', types.integer, (column) => column.notNull())
      .addColumn('user_ids', types.key, (column) => column.notNull())
      .addColumn('organization_ids', types.key, (column) => column.notNull())
      .addColumn('repository_ids', types.key, (column) => column.notNull())
      .addColumn('issue_ids', types.key, (column) => column.notNull())
      .$call((table) =>
        ddlCommitsItself ? table.addColumn('begun', types.integer, (column) => column.notNull().defaultTo(0)) : table,
      )
      .modifyEnd(tableEnd),
  )
}

function ledgerRow({ build, ids }: SqlContext): SchemaStatement {
  const { user, organization, repository, issue } = ids.columns
  const values = sql.join([1, 0, 0, user, organization, repository, issue].map((value) => sql.lit(value)))
  return schemaStatement(
    build
      .insertInto('ledger')
      .columns(['only', 'version', 'oldest_library', 'user_ids', 'organization_ids', 'repository_ids', 'issue_ids'])
      // It is there already when the making of the ledger ended halfway.
      .expression(sql`select ${values} where not exists (select * from ${sql.table('ledger')})`),
  )
}

/** One part of the way to newer tables: statements that are all run or none, where the database can; or an index. */
export type MigrationPart = { readonly together: readonly SchemaStatement[] } | { readonly index: NewIndex }

/**
 * The way from the tables as the ledger has them to those of the newest migration. After any part the way may be begun
 * anew: where every statement commits by itself, all of them can be run again.
 */
export function migrationParts(
  context: SqlContext,
  found: SchemaVersion | undefined,
  migrations: readonly Migration[],
): readonly MigrationPart[] {
  const made: readonly MigrationPart[] = found === undefined ? [{ together: createLedger(context) }] : []
  const missing = migrations.filter((migration) => migration.version > (found?.version ?? 0))
  return [...made, ...missing.flatMap((migration) => partsOf(context, migration))]
}

function partsOf(context: SqlContext, migration: Migration): readonly MigrationPart[] {
  const begun: readonly MigrationPart[] = context.dialect.ddlCommitsItself
    ? [{ together: [noteBegun(context, migration)] }]
    : []
  const indexes = migration.indexes(context).map((index) => ({ index }))
  return [...begun, ...indexes, { together: [...migration.statements(context), noteTaken(context, migration)] }]
}

/** The statements of one part. */
export function statementsOf(context: SqlContext, part: MigrationPart): readonly SchemaStatement[] {
  return 'index' in part ? [newIndexStatement(context, part.index)] : part.together
}

/** The tables, views, indexes and triggers that migrations make. */
export function thingsMadeBy(context: SqlContext, migrations: readonly Migration[]): readonly SchemaThing[] {
  return migrations
    .flatMap((migration) => [
      ...migration.indexes(context).map((index) => newIndexStatement(context, index)),
      ...migration.statements(context),
    ])
    .flatMap(({ makes }) => makes ?? [])
}

/** How the schema is changed on a server whose tables are in use. */
export interface SchemaChanges {
  /** Takes the lock that keeps other sessions from migrating there, or tells that one has it. Waits for nobody. */
  lock(place: Place): Statement<{ readonly lock: 'taken' | 'busy' }>
  /** Gives the lock back. */
  unlock(place: Place): Statement<unknown>
  /** Parts statements into those that are run together or not at all. */
  units(statements: readonly SchemaStatement[]): readonly (readonly SchemaStatement[])[]
  /** Runs one such unit. It waits for a table no longer than two seconds: others wait behind it. @throws ForgeError `STORAGE_BUSY` */
  run(session: Queryable, unit: readonly SchemaStatement[]): SyncOrAsync<void>
  /** Makes an index beside who reads and writes. @throws ForgeError `STORAGE_BUSY` */
  index(session: Queryable, making: IndexMaking): SyncOrAsync<void>
}

/** An index to be made. */
export interface IndexMaking {
  readonly place: Place
  readonly statement: SchemaStatement
  /** How long to wait, in milliseconds, for transactions that use the table, where nobody waits behind an index. */
  readonly wait: number
}
