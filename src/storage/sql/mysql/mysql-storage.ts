import { needObject } from '../../../schema/arguments.ts'
import type { ForgeStorage } from '../../contract/storage.ts'
import type { SqlStorageOptions } from '../context.ts'
import { createSqlContext } from '../context.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import { createServerStorage } from '../server/server-storage.ts'
import type { MysqlConnection, MysqlPool } from './mysql-pool.ts'
import { isPool, speaksCallbacks } from './mysql-pool.ts'
import { MysqlServer } from './mysql-server.ts'

/**
 * Creates a storage on a MariaDB database. Nothing is opened before its first use. @throws TypeError if an option is
 * invalid
 */
export function createMysqlStorage<C extends MysqlConnection>(
  urlOrPool: string | MysqlPool<C>,
  options: SqlStorageOptions = {},
): ForgeStorage<C> {
  if (typeof urlOrPool === 'string') refuseOtherUrls(urlOrPool)
  else if (speaksCallbacks(urlOrPool)) throw new TypeError('the pool speaks callbacks: make it with mysql2/promise')
  else if (!isPool(urlOrPool)) throw new TypeError('a MariaDB storage needs a URL, or a pool of mysql2/promise')

  needObject(options, 'options', "{ prefix: 'forge_' }")
  const { ids, prefix } = options
  const context = createSqlContext(mysqlDialect, { ids, prefix })
  const needsUuid = Object.values(context.ids.columns).includes('uuid')
  return createServerStorage(new MysqlServer<C>(urlOrPool, needsUuid), context)
}

/** The message does not show the URL, which may contain a password. */
function refuseOtherUrls(url: string): void {
  if (!/^(mysql|mariadb):\/\/./.test(url) || !URL.canParse(url)) {
    throw new TypeError('the URL of a MariaDB database begins with mysql:// or mariadb://')
  }
  if (new URL(url).pathname.length < 2) throw new TypeError('the URL must name a database: mysql://server/database')
}
