import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { PgClient, SchemaStorageOptions } from '../../storage/postgres.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { poolSize } from '../../storage/sql/servers/pools.ts'
import { openPostgres } from '../../storage/sql/servers/postgres.ts'
import type { Queryable } from '../../storage/sql/session.ts'
import { queryFirst } from '../../storage/sql/session.ts'
import type { DatabaseChecks, Finding, WantedSetting } from './checks.ts'
import { clockFinding, connectionsFinding, settingFindings } from './checks.ts'
import { ServerHostDatabase } from './server-database.ts'

/** Opens the host's database on a PostgreSQL server. It connects at its first use. @throws TypeError for a wrong option */
export function openPostgresDatabase(
  url: string,
  { schema, prefix }: Pick<SchemaStorageOptions, 'schema' | 'prefix'>,
): ServerHostDatabase<PgClient> {
  return new ServerHostDatabase(openPostgres<PgClient>(url, { schema, prefix }), postgresChecks(url))
}

/** Checks a PostgreSQL server. @param url - of the database, which may limit the pool */
function postgresChecks(url: string): DatabaseChecks {
  return function* checks(session: Queryable): SyncOrAsync<readonly Finding[]> {
    const settings = yield* settingFindings(session, SETTINGS, WANTED)
    const clock = yield* clockFinding(session, CLOCK)
    const counts = yield* queryFirst(session, CONNECTIONS)
    const { maximum = '0', reserved = '0', used = '0' } = counts ?? {}
    const numbers = { limit: Number(maximum), reserved: Number(reserved), open: Number(used) }
    return [...settings, clock, connectionsFinding(numbers, poolSize(url, 'max'), 'max')]
  }
}

const SETTINGS: Statement<{ readonly name: string; readonly value: string }> = {
  sql:
    'select cast(name as text) as "name", cast(setting as text) as "value" from pg_catalog.pg_settings ' +
    "where name in ('server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'default_transaction_read_only')",
  parameters: [],
  returnsRows: true,
}

const WANTED: readonly WantedSetting[] = [
  { name: 'server_version', isRight: () => true, advice: '' },
  {
    name: 'fsync',
    isRight: (value) => value === 'on',
    advice: 'set fsync = on: committed data may be lost when the machine stops',
  },
  {
    name: 'full_page_writes',
    isRight: (value) => value === 'on',
    advice: 'set full_page_writes = on: the database may be damaged when the machine stops',
  },
  {
    name: 'synchronous_commit',
    isRight: (value) => value !== 'off',
    advice: 'set synchronous_commit = on: tokens and fixtures may be lost when the server stops',
  },
  {
    name: 'default_transaction_read_only',
    isRight: (value) => value === 'off',
    advice: 'connect to the primary server, or set it off: the connection cannot write',
  },
]

const CLOCK: Statement<{ readonly now: string }> = {
  sql: 'select cast(extract(epoch from pg_catalog.clock_timestamp()) * 1000 as text) as "now"',
  parameters: [],
  returnsRows: true,
}

/**
 * Processes of the server itself are in no database or have no user, and workers of a query that runs in parallel need no
 * connection. A role without `pg_read_all_stats` cannot read the type of other roles' processes; those count.
 */
const CONNECTIONS: Statement<{ readonly maximum: string; readonly reserved: string; readonly used: string }> = {
  sql:
    'select pg_catalog.current_setting(\'max_connections\') as "maximum", ' +
    'pg_catalog.current_setting(\'superuser_reserved_connections\') as "reserved", ' +
    '(select cast(count(*) as text) from pg_catalog.pg_stat_activity where datname is not null ' +
    "and usesysid is not null and coalesce(backend_type, 'client backend') = 'client backend') as \"used\"",
  parameters: [],
  returnsRows: true,
}
