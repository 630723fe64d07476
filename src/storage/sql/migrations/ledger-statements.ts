import { sql } from 'kysely'
import type { SchemaVersion } from '../schema-version.ts'
import type { SqlContext } from '../sql-context.ts'
import type { SchemaStatement } from './schema-statement.ts'
import { schemaStatement } from './schema-statement.ts'

/** Makes the ledger, before the first step; of a schema that does not exist yet, the schema too. */
export function createLedger(context: SqlContext): readonly SchemaStatement[] {
  return [...context.dialect.createSchema(context.schema), ledgerTable(context), ledgerRow(context)]
}

/** Notes that a step is taken, together with it. */
export function noteTaken({ build }: SqlContext, { version, oldestLibrary }: SchemaVersion): SchemaStatement {
  return schemaStatement(
    build.updateTable('ledger').set({ version: sql.lit(version), oldest_library: sql.lit(oldestLibrary) }),
  )
}

/** Notes that a step is begun: where it may end halfway, nobody shall use tables meanwhile that will not be for him. */
export function noteBegun({ build }: SqlContext, { version, oldestLibrary }: SchemaVersion): SchemaStatement {
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
