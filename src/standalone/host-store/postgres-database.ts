import type { PgClient, SchemaStorageOptions } from '../../storage/postgres.ts'
import { openPostgres } from '../../storage/sql/server/open-postgres.ts'
import { postgresChecks } from './postgres-checks.ts'
import { ServerHostDatabase } from './server-database.ts'

/** Opens the host's database on a PostgreSQL server. It connects at its first use. @throws TypeError for a wrong option */
export function openPostgresDatabase(
  url: string,
  { schema, prefix }: Pick<SchemaStorageOptions, 'schema' | 'prefix'>,
): ServerHostDatabase<PgClient> {
  return new ServerHostDatabase(openPostgres<PgClient>(url, { schema, prefix }), postgresChecks(url))
}
