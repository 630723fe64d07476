import { PgDatabaseClient } from '../clients/pg.ts'
import type { PgClient, PgPool } from '../clients/pg-pool.ts'
import { isPgPool } from '../clients/pg-pool.ts'
import type { SchemaStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from '../context.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import { PostgresRules } from './postgres-rules.ts'
import type { ServerStorage } from './runtime.ts'
import { createServerStorage } from './runtime.ts'

/** Creates a storage in a PostgreSQL database. @throws TypeError if the URL, the pool or an option is invalid */
export function openPostgres<C extends PgClient>(
  urlOrPool: string | PgPool,
  options: SchemaStorageOptions,
): ServerStorage<C> {
  if (typeof urlOrPool !== 'string' && !isPgPool(urlOrPool)) {
    throw new TypeError('a PostgreSQL storage needs a URL, or a pool of pg')
  }
  if (typeof urlOrPool === 'string' && !/^(postgres|postgresql|socket):/.test(urlOrPool)) {
    throw new TypeError('the URL of a PostgreSQL database begins with postgres://')
  }

  checkStorageOptions('postgresStorage', options, SCHEMA_OPTIONS)
  const context = createSqlContext(postgresDialect, options)
  return createServerStorage({ client: new PgDatabaseClient<C>(urlOrPool), rules: new PostgresRules(context) }, context)
}
