import type { MysqlConnection, SqlStorageOptions } from '../../storage/mysql.ts'
import { openMysql } from '../../storage/sql/server/open-mysql.ts'
import { mysqlChecks } from './mysql-checks.ts'
import { ServerHostDatabase } from './server-database.ts'

/** Opens the host's database on a MariaDB server. It connects at its first use. @throws TypeError for a wrong option */
export function openMysqlDatabase(
  url: string,
  { prefix }: Pick<SqlStorageOptions, 'prefix'>,
): ServerHostDatabase<MysqlConnection> {
  return new ServerHostDatabase(openMysql<MysqlConnection>(url, { prefix }), mysqlChecks(url))
}
