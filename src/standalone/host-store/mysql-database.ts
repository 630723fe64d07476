import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { MysqlConnection, SqlStorageOptions } from '../../storage/mysql.ts'
import type { Statement } from '../../storage/sql/query.ts'
import { openMysql } from '../../storage/sql/servers/mariadb.ts'
import { poolSize } from '../../storage/sql/servers/pools.ts'
import type { Queryable } from '../../storage/sql/session.ts'
import { queryFirst } from '../../storage/sql/session.ts'
import type { DatabaseChecks, Finding, WantedSetting } from './checks.ts'
import { clockFinding, connectionsFinding, settingFindings } from './checks.ts'
import { ServerHostDatabase } from './server-database.ts'

/** Opens the host's database on a MariaDB server. It connects at its first use. @throws TypeError for a wrong option */
export function openMysqlDatabase(
  url: string,
  { prefix }: Pick<SqlStorageOptions, 'prefix'>,
): ServerHostDatabase<MysqlConnection> {
  return new ServerHostDatabase(openMysql<MysqlConnection>(url, { prefix }), mysqlChecks(url))
}

/** Checks a MariaDB server. @param url - of the database, which may limit the pool */
function mysqlChecks(url: string): DatabaseChecks {
  return function* checks(session: Queryable): SyncOrAsync<readonly Finding[]> {
    const settings = yield* settingFindings(session, SETTINGS, WANTED)
    const clock = yield* clockFinding(session, CLOCK)
    const counts = yield* queryFirst(session, CONNECTIONS)
    const { maximum = '0', used = '0' } = counts ?? {}
    const numbers = { limit: Number(maximum), reserved: 0, open: Number(used) }
    return [...settings, clock, connectionsFinding(numbers, poolSize(url, 'connectionLimit'), 'connectionLimit')]
  }
}

const SETTINGS: Statement<{ readonly name: string; readonly value: string }> = {
  sql:
    'select lower(variable_name) as name, cast(variable_value as char) as value from information_schema.global_variables ' +
    "where variable_name in ('version', 'innodb_flush_log_at_trx_commit', 'innodb_doublewrite', 'read_only') " +
    // without a binary log, how often it is written does not matter
    "or (variable_name = 'sync_binlog' and @@global.log_bin)",
  parameters: [],
  returnsRows: true,
}

const WANTED: readonly WantedSetting[] = [
  { name: 'version', isRight: () => true, advice: '' },
  {
    name: 'innodb_flush_log_at_trx_commit',
    isRight: (value) => value === '1',
    advice: 'set it to 1: committed data may be lost when the server stops',
  },
  {
    name: 'innodb_doublewrite',
    isRight: (value) => !/^(off|0)$/i.test(value),
    advice: 'set it on: the database may be damaged when the machine stops',
  },
  {
    name: 'sync_binlog',
    isRight: (value) => value === '1',
    advice: 'set it to 1: committed data may be lost when the machine stops',
  },
  {
    name: 'read_only',
    isRight: (value) => /^(off|0)$/i.test(value),
    advice: 'connect to the primary server, or set it off: the server cannot be written',
  },
]

const CLOCK: Statement<{ readonly now: string }> = {
  sql: 'select cast(unix_timestamp(sysdate(3)) * 1000 as char) as now',
  parameters: [],
  returnsRows: true,
}

const CONNECTIONS: Statement<{ readonly maximum: string; readonly used: string }> = {
  sql:
    'select cast(@@global.max_connections as char) as maximum, cast(variable_value as char) as used ' +
    "from information_schema.global_status where variable_name = 'THREADS_CONNECTED'",
  parameters: [],
  returnsRows: true,
}
