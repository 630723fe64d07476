import type { ForgeStorage } from './contract/forge-storage.ts'
import { postgresDialect } from './sql/dialects/postgres-dialect.ts'
import type { PgClient, PgPool } from './sql/postgres/pg-pool.ts'
import { createPostgresStorage } from './sql/postgres/postgres-storage.ts'
import type { SchemaPlanOptions } from './sql/schema-plan.ts'
import { planSchema } from './sql/schema-plan.ts'
import type { SchemaStorageOptions } from './sql/sql-context.ts'

export type { IdColumn, IdColumns } from './sql/id-columns.ts'
export type { PgClient, PgPool, PgPoolClient, PgQuery, PgTypes } from './sql/postgres/pg-pool.ts'
export type { SchemaPlanOptions } from './sql/schema-plan.ts'
export type { SchemaStorageOptions, SqlStorageOptions } from './sql/sql-context.ts'

/** A storage in a PostgreSQL database. */
export function postgresStorage<C extends PgClient = PgClient>(
  urlOrPool: string | PgPool,
  options: SchemaStorageOptions = {},
): ForgeStorage<C> {
  return createPostgresStorage(urlOrPool, options)
}

/**
 * The SQL statements that `migrate()` would run, in order, for those who make tables by hand: each on its own, without the
 * semicolon; an index that is made `concurrently` must not be inside a transaction.
 * Needs no connection and no driver.
 *
 * @throws TypeError for an option that is none
 */
export function postgresSchemaPlan(options: SchemaPlanOptions & SchemaStorageOptions = {}): readonly string[] {
  return planSchema(postgresDialect, options)
}
