import { need } from '../../../schema/arguments.ts'
import type { SqlStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from '../context.ts'
import { command } from '../dialect.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import { unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import { MAX_IDLE_S } from './call.ts'
import { runnerIn } from './host-runner.ts'
import type { HostTransaction } from './host-transaction.ts'
import { isHostTransaction } from './host-transaction.ts'
import type { Transactional, TransactionOptions } from './in-transaction.ts'
import { isolationIn, repeatTransaction } from './in-transaction.ts'
import { mariadbRules, ROLL_BACK } from './mariadb-rules.ts'
import { PooledConnection, physical, run, socketOf } from './mysql-connection.ts'
import type { MysqlConnection, MysqlPool, MysqlPoolConnection, OwnPool } from './mysql-types.ts'
import { isConnection, isOwnPool, isPool, speaksCallbacks } from './mysql-types.ts'
import { driver, hasMethods, ignore, OwnSockets, poolSize } from './pools.ts'
import type { Server } from './server.ts'
import type { ServerStorage } from './server-storage.ts'
import { createServerStorage } from './server-storage.ts'

/** Creates a storage in a MariaDB database. @throws TypeError if the URL, the pool or an option is invalid */
export function openMysql<C extends MysqlConnection | HostTransaction>(
  urlOrPool: string | MysqlPool,
  options: SqlStorageOptions,
): ServerStorage<C> {
  if (typeof urlOrPool === 'string') refuseOtherUrls(urlOrPool)
  else if (speaksCallbacks(urlOrPool)) throw new TypeError('the pool uses callbacks: create it with mysql2/promise')
  else if (!isPool(urlOrPool)) throw new TypeError('a MariaDB storage needs a URL, or a pool of mysql2/promise')

  checkStorageOptions('mysqlStorage', options, SQL_OPTIONS)
  return createServerStorage(mariadbServer<C>(urlOrPool), createSqlContext(mysqlDialect, options))
}

/** The message does not show the URL, which may contain a password. */
function refuseOtherUrls(url: string): void {
  if (!/^(mysql|mariadb):\/\/./.test(url) || !URL.canParse(url)) {
    throw new TypeError('the URL of a MariaDB database begins with mysql:// or mariadb://')
  }
  if (new URL(url).pathname.length < 2) throw new TypeError('the URL must name a database: mysql://server/database')
}

/** MariaDB through mysql2: a pool that is opened for a URL, or the host's pool. */
function mariadbServer<C extends MysqlConnection | HostTransaction>(urlOrPool: string | MysqlPool): Server<C> {
  const sockets = new OwnSockets()
  let own: OwnPool | undefined

  function pool(): MysqlPool {
    if (typeof urlOrPool !== 'string') return urlOrPool
    own ??= openPool(urlOrPool, (connection) => sockets.add(socketOf(connection)))
    return own
  }

  return {
    ...mariadbRules,

    async connect() {
      const connection = await pool().getConnection()
      return new PooledConnection<C>(connection, own === undefined ? [ROLL_BACK] : [])
    },

    ofHost(transaction) {
      if (isHostTransaction(transaction)) return runnerIn(transaction, mariadbRules.textOf)
      if (speaksCallbacks(transaction)) {
        const fix = 'pass `connection.promise()`, or a connection of mysql2/promise'
        throw new TypeError(`the transaction uses callbacks: ${fix}`)
      }
      if (isPool(transaction) || !isConnection(transaction)) {
        throw new TypeError('the transaction must be a connection of mysql2/promise, with a transaction open')
      }
      const textOf = (statement: Statement<unknown>): string => mariadbRules.textOf(statement, 'host')
      return { identity: physical(transaction), run: (all, refuse) => run(transaction, all, textOf, refuse) }
    },

    async close() {
      await own?.end().catch(ignore) // the server may be gone, and has closed the connections
      sockets.destroyLater()
    },
  }
}

/**
 * Runs work with the services of a forge in a transaction on a connection of the host's pool, and commits it.
 *
 * @throws TypeError if an argument is invalid, and as documented at `inTransaction`
 */
export async function inMariadbTransaction<T, C extends MysqlPoolConnection, S>(
  pool: MysqlPool,
  forge: Transactional<C, S>,
  work: (services: S, connection: C) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  need(isPool(pool), 'inTransaction', 'pool', 'a pool of mysql2/promise')
  const begin = [
    command(`set transaction isolation level ${isolationIn(options)}`),
    command('start transaction read write'),
  ]
  const connect = async (): Promise<PooledConnection<C>> =>
    new PooledConnection<C>(await pool.getConnection(), [ROLL_BACK])
  return repeatTransaction({ rules: mariadbRules, begin, connect }, forge, work)
}

/**
 * The time limit for connecting, in milliseconds, and the number of statements a connection keeps prepared, which
 * exceeds the number that the storage uses. A server keeps 16,382 for all its connections, and mysql2 would keep as many
 * for one.
 */
const OPTIONS = { connectTimeout: 4000, maxPreparedStatements: 100 }

const OTHER = 'the installed mysql2 has no pools with promises: npm i mysql2@3'

/**
 * Opens a pool with the mysql2 that is installed beside the application. It does not connect yet.
 *
 * @param url - its parameters (`?connectionLimit=20`) are options of mysql2, and take precedence over ours
 */
function openPool(url: string, opened: (connection: unknown) => void): OwnPool {
  const mysql = driver('mysql2/promise')
  if (typeof mysql !== 'object' || mysql === null || !('createPool' in mysql)) throw unavailable(OTHER)
  if (typeof mysql.createPool !== 'function') throw unavailable(OTHER)

  refuseUnreadable(url)
  const { searchParams } = new URL(url)
  const options = Object.fromEntries(Object.entries(OPTIONS).filter(([name]) => !searchParams.has(name)))
  const pool: unknown = mysql.createPool({
    uri: url,
    connectionLimit: poolSize(url, 'connectionLimit'),
    ...options,
  })
  if (!isOwnPool(pool)) throw unavailable(OTHER)
  pool.on('connection', (connection) => {
    opened(connection)
    limitIdle(connection)
  })
  return pool
}

/**
 * Checks the parts that mysql2 decodes. The message does not show the URL, and the error has no cause: the URL may
 * contain a password.
 */
function refuseUnreadable(url: string): void {
  const { username, password, hostname, pathname } = new URL(url)
  try {
    for (const part of [username, password, hostname, pathname]) decodeURIComponent(part)
  } catch {
    throw new TypeError('mysql2 cannot read the URL of the database: write % as %25')
  }
}

/** Has the server end the transactions on a connection whose process is silent: sent ahead of everything else. */
function limitIdle(connection: unknown): void {
  if (!isCalledBack(connection)) return
  connection.query(`set session idle_transaction_timeout = ${MAX_IDLE_S}`, ignore)
}

/** A connection as mysql2 itself has it. */
function isCalledBack(connection: unknown): connection is { query(sql: string, done: () => void): unknown } {
  return hasMethods(connection, 'query')
}
