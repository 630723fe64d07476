import { Mysql2DatabaseClient } from '../clients/mysql2.ts'
import type { MysqlConnection, MysqlPool } from '../clients/mysql2-pool.ts'
import { isPool, speaksCallbacks } from '../clients/mysql2-pool.ts'
import type { SqlStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from '../context.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import { MariadbRules } from './mariadb-rules.ts'
import type { ServerStorage } from './runtime.ts'
import { createServerStorage } from './runtime.ts'

/** Creates a storage in a MariaDB database. @throws TypeError if the URL, the pool or an option is invalid */
export function openMysql<C extends MysqlConnection>(
  urlOrPool: string | MysqlPool<C>,
  options: SqlStorageOptions,
): ServerStorage<C> {
  if (typeof urlOrPool === 'string') refuseOtherUrls(urlOrPool)
  else if (speaksCallbacks(urlOrPool)) throw new TypeError('the pool uses callbacks: create it with mysql2/promise')
  else if (!isPool(urlOrPool)) throw new TypeError('a MariaDB storage needs a URL, or a pool of mysql2/promise')

  checkStorageOptions('mysqlStorage', options, SQL_OPTIONS)
  const context = createSqlContext(mysqlDialect, options)
  const rules = new MariadbRules(context.ids, { sendsPlainText: false })
  return createServerStorage({ client: new Mysql2DatabaseClient<C>(urlOrPool), rules }, context)
}

/** The message does not show the URL, which may contain a password. */
function refuseOtherUrls(url: string): void {
  if (!/^(mysql|mariadb):\/\/./.test(url) || !URL.canParse(url)) {
    throw new TypeError('the URL of a MariaDB database begins with mysql:// or mariadb://')
  }
  if (new URL(url).pathname.length < 2) throw new TypeError('the URL must name a database: mysql://server/database')
}
