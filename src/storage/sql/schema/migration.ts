import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { SqlContext } from '../context.ts'
import type { MadeThing, Place, SchemaStatement, SqlDialect } from '../dialect.ts'
import { schemaStatement } from '../dialect.ts'
import type { Queryable } from '../session.ts'
import type { SchemaVersion } from './ledger.ts'

/** One step of the schema. It never changes once released. */
export interface Migration {
  /** 1, 2, 3 … */
  readonly version: number
  /** The oldest library, by its schema version, that can use the tables after this step. Minor versions only add. */
  readonly oldestLibrary: number
  /**
   * New indexes on tables and columns that earlier steps created. They are created first, if possible without blocking
   * readers and writers of the table. An index on a column that this step adds must therefore wait for the next step.
   */
  indexes(context: SqlContext): readonly NewIndex[]
  /** New tables with their indexes, new views, new columns: all or none, if the database supports it. */
  statements(context: SqlContext): readonly SchemaStatement[]
}

/** An index on a table that already exists, and may be large and in use. */
export interface NewIndex {
  /** The name without the storage's prefix. */
  readonly name: string
  readonly table: string
  readonly columns: readonly string[]
  readonly unique?: true
  /** Which rows the index contains, if the database supports partial indexes. */
  readonly where?: { readonly column: string; readonly is: 'null' | 'not null' }
}

/** Returns the statement that creates an index with the syntax of the database. */
function newIndexStatement(context: SqlContext, index: NewIndex): SchemaStatement {
  const { build, prefix, dialect } = context
  const made = { name: `${prefix}${index.name}`, table: `${prefix}${index.table}`, columns: [] }
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

/** Creates the ledger before the first step, and the schema too if it does not exist yet. */
export function createLedger(context: SqlContext): readonly SchemaStatement[] {
  return [...context.dialect.createSchema(context.schema), ledgerTable(context), ledgerRow(context)]
}

/** Records that a step is completed. Runs together with the step. */
function noteTaken({ build }: SqlContext, { version, oldestLibrary }: SchemaVersion): SchemaStatement {
  return schemaStatement(
    build.updateTable('ledger').set({ version: sql.lit(version), oldest_library: sql.lit(oldestLibrary) }),
  )
}

/**
 * Records that a step has begun. The step may end halfway: an older library must not use tables meanwhile that will
 * soon be too new for it.
 */
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
      // The row already exists if the creation of the ledger ended halfway.
      .expression(sql`select ${values} where not exists (select * from ${sql.table('ledger')})`),
  )
}

/** One part of a migration: statements that all run or none, if the database supports it; or an index. */
export type MigrationPart = { readonly together: readonly SchemaStatement[] } | { readonly index: SchemaStatement }

/**
 * Returns the parts that migrate the tables from the version in the ledger to the newest. The migration can start again
 * after any part: if every statement commits by itself, all of them can be run again.
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
  const indexes = migration.indexes(context).map((index) => ({ index: newIndexStatement(context, index) }))
  return [...begun, ...indexes, { together: [...migration.statements(context), noteTaken(context, migration)] }]
}

/** Returns the statements of one part. */
export function statementsOf(part: MigrationPart): readonly SchemaStatement[] {
  return 'index' in part ? [part.index] : part.together
}

/** Tables as a whole, of the forge or of a host: what a migration of them needs to know. */
export interface MigratedTables {
  readonly context: Place & { readonly dialect: SqlDialect }
  /** Returns whether migrations are missing. @throws ForgeError `SCHEMA_TOO_NEW` */
  needsMigration(session: Queryable): SyncOrAsync<boolean>
  /**
   * Runs the missing steps, under a lock that keeps other processes from doing the same.
   *
   * @param take - runs one part of them
   */
  migrate(session: Queryable, take: (part: MigrationPart) => SyncOrAsync<void>): SyncOrAsync<void>
}

/** Returns the tables, views, indexes and triggers that the migrations create. */
export function thingsMadeBy(context: SqlContext, migrations: readonly Migration[]): readonly MadeThing[] {
  return migrations
    .flatMap((migration) => [
      ...migration.indexes(context).map((index) => newIndexStatement(context, index)),
      ...migration.statements(context),
    ])
    .flatMap(({ makes }) => makes ?? [])
}
