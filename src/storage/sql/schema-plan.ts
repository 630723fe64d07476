import { needObject } from '../../schema/arguments.ts'
import type { SqlDialect } from './dialect.ts'
import { ALL_MIGRATIONS } from './migrations/all-migrations.ts'
import { migrationParts, statementsOf } from './migrations/migration-parts.ts'
import type { SchemaStorageOptions, SqlStorageOptions } from './sql-context.ts'
import { createSqlContext } from './sql-context.ts'

/** What a schema plan can be told: what the storage is, and where the way begins. */
export interface SchemaPlanOptions extends SqlStorageOptions {
  /** The version the tables have now, by the ledger. Default 0: there are none. */
  readonly from?: number | undefined
}

/** @throws TypeError for an option that is none */
export function planSchema(dialect: SqlDialect, given: SchemaPlanOptions & SchemaStorageOptions): readonly string[] {
  needObject(given, 'options', "{ prefix: 'forge_' }")
  const { from = 0, ...options } = given
  const newest = Math.max(...ALL_MIGRATIONS.map(({ version }) => version))
  if (!Number.isInteger(from) || from < 0 || from > newest) {
    throw new TypeError(`from must be the version of tables, 0 to ${newest}`)
  }

  const context = createSqlContext(dialect, options)
  const found = from === 0 ? undefined : { version: from, oldestLibrary: 1 }
  return migrationParts(context, found, ALL_MIGRATIONS).flatMap((part) => {
    const statements = statementsOf(context, part).map(({ sql }) => sql.trim())
    return 'index' in part ? statements : dialect.script(statements)
  })
}
