import type { ForgeStorage } from '../../contract/storage.ts'
import type { SchemaStorageOptions } from '../context.ts'
import { createSqlContext } from '../context.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import { createServerStorage } from '../server/server-storage.ts'
import type { PgClient, PgPool } from './pg-pool.ts'
import { isPgPool } from './pg-pool.ts'
import { PostgresServer } from './postgres-server.ts'

/**
 * Creates a storage on a PostgreSQL database. Nothing is opened before its first use. @throws TypeError if an option is
 * invalid
 */
export function createPostgresStorage<C extends PgClient>(
  urlOrPool: string | PgPool,
  options: SchemaStorageOptions = {},
): ForgeStorage<C> {
  if (typeof urlOrPool !== 'string' && !isPgPool(urlOrPool)) {
    throw new TypeError('a PostgreSQL storage needs a URL, or a pool of pg')
  }
  if (typeof urlOrPool === 'string' && !/^(postgres|postgresql|socket):/.test(urlOrPool)) {
    throw new TypeError('the URL of a PostgreSQL database begins with postgres://')
  }

  const context = createSqlContext(postgresDialect, options)
  return createServerStorage(new PostgresServer<C>(urlOrPool, context), context)
}
