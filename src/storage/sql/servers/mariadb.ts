import { need } from '../../../schema/arguments.ts'
import { FUNCTION } from '../../../schema/options.ts'
import type { SqlStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from '../context.ts'
import type { SqlStorage } from '../database.ts'
import { command } from '../dialect.ts'
import { mariadbDialect } from '../dialects/mariadb.ts'
import type { KyselyDatabase } from './clients/kysely.ts'
import { isKyselyDatabase, isKyselyExecutor, kyselyClient, runnerOfKysely } from './clients/kysely.ts'
import type { MariadbPool } from './clients/mariadb.ts'
import { isMariadbPool, mariadbClient } from './clients/mariadb.ts'
import type { MysqlConnection, MysqlPool, MysqlPoolConnection } from './clients/mysql2.ts'
import { isMysqlPool, mysql2Client, runnerOfMysql2 } from './clients/mysql2.ts'
import type { HostTransaction, KyselyExecutor, LibraryOf } from './host-transaction.ts'
import { isHostTransaction, runnerIn } from './host-transaction.ts'
import type { Beginning, TransactionOptions } from './in-transaction.ts'
import { isolationIn } from './in-transaction.ts'
import { mariadbRules, START } from './mariadb-rules.ts'
import type { Client } from './server.ts'
import { createServerStorage } from './server-storage.ts'
import { WrappedTransactions } from './wrapped-transactions.ts'

/** What a storage in MariaDB takes its connections from, beside a URL. */
export type MariadbSource = MysqlPool | MariadbPool | KyselyDatabase

/** The options of a storage in MariaDB. `C` is the type of its transactions. */
export interface MariadbStorageOptions<C> extends SqlStorageOptions {
  /**
   * Makes a transaction of the host's library of the connection of mysql2 on which the storage makes a change, as in
   * `PostgresStorageOptions`: `(connection) => drizzle(connection)` is one. Default: they receive the connection itself.
   */
  transaction?(connection: MysqlPoolConnection): LibraryOf<C>
}

/** Creates a storage in a MariaDB database. @throws TypeError if the URL, the pool or an option is invalid */
export function openMariadb<C extends MysqlConnection | KyselyExecutor | HostTransaction>(
  source: string | MariadbSource,
  { transaction, ...options }: MariadbStorageOptions<C>,
): SqlStorage<C> {
  checkStorageOptions('mariadbStorage', options, SQL_OPTIONS)
  need(FUNCTION[0](transaction), 'mariadbStorage', 'transaction', FUNCTION[1])
  const wrapped = new WrappedTransactions(transaction)
  const isOwn = typeof source === 'string'
  const server = {
    ...mariadbRules,
    ...(isOwn && { begin: () => [START] }), // its connections have their level
    first: isOwn ? [] : [ROLL_BACK],
    client: clientOf(source, wrapped),
    ofHost(given: object) {
      const open = wrapped.unwrap(given)
      if (isHostTransaction(open)) return runnerIn(open)
      return isKyselyExecutor(open) ? runnerOfKysely(open) : runnerOfMysql2(open)
    },
  }
  return createServerStorage(server, createSqlContext(mariadbDialect, options))
}

function clientOf(source: string | MariadbSource, wrapped: WrappedTransactions<MysqlPoolConnection>): Client {
  if (typeof source === 'string') refuseOtherUrls(source)
  if (typeof source === 'string' || isMysqlPool(source)) return mysql2Client(source, wrapped)
  wrapped.refuse('mariadbStorage', 'a pool of mysql2')
  if (isMariadbPool(source)) return mariadbClient(source)
  if (isKyselyDatabase(source)) return kyselyClient(source)
  throw new TypeError('a MariaDB storage needs a URL, a pool of mysql2/promise or of npm mariadb, or a Kysely')
}

/** The message does not show the URL, which may contain a password. */
function refuseOtherUrls(url: string): void {
  if (!/^(mysql|mariadb):\/\/./.test(url) || !URL.canParse(url)) {
    throw new TypeError('the URL of a MariaDB database begins with mysql:// or mariadb://')
  }
  if (new URL(url).pathname.length < 2) throw new TypeError('the URL must name a database: mysql://server/database')
}

const ROLL_BACK = command('rollback')

/** Returns how transactions begin on a pool of the host. @throws TypeError if an argument is invalid */
export function beginOnMysql2(pool: MysqlPool, options: TransactionOptions): Beginning {
  need(isMysqlPool(pool), 'inTransaction', 'pool', 'a pool of mysql2/promise')
  const level = command(`set transaction isolation level ${isolationIn(options)}`)
  return {
    begin: [ROLL_BACK, level, START],
    client: mysql2Client(pool, new WrappedTransactions(undefined)),
    commit: mariadbRules.commit,
  }
}
