import type { SchemaVersion } from '../schema-version.ts'
import type { SqlContext } from '../sql-context.ts'
import { createLedger, noteBegun, noteTaken } from './ledger-statements.ts'
import type { Migration } from './migration.ts'
import type { NewIndex } from './new-index.ts'
import { newIndexStatement } from './new-index.ts'
import type { SchemaStatement, SchemaThing } from './schema-statement.ts'

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
