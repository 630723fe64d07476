import { hasMethods, isObject, need, propertyOf } from '../../../schema/arguments.ts'
import { FUNCTION } from '../../../schema/options.ts'
import type { SqlStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from '../context.ts'
import { command } from '../dialect.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import type { HostedStorage } from '../stores/stores.ts'
import { MAX_IDLE_S } from './call.ts'
import type { HostTransaction, LibraryOf } from './host-transaction.ts'
import { isHostTransaction, runnerIn } from './host-transaction.ts'
import type { Beginning, TransactionOptions } from './in-transaction.ts'
import { isolationIn } from './in-transaction.ts'
import { LentTransactions } from './lent-transactions.ts'
import { BEGIN, mariadbRules, START } from './mariadb-rules.ts'
import { destroySocket, driverIn, hear, notInstalled, poolSize } from './pools.ts'
import type { Runner, Server, ServerConnection } from './server.ts'
import { createServerStorage } from './server-runtime.ts'

/** A query as mysql2 accepts it. Its options override those that the host has set on the connection. */
export interface MysqlQuery {
  readonly sql: string
  readonly values: (string | number | Uint8Array | null)[]
  readonly rowsAsArray: boolean
  readonly nestTables: boolean
  readonly namedPlaceholders: boolean
  /** Reads one value of a row; `next` reads it as mysql2 does. */
  readonly typeCast: (field: unknown, next: () => unknown) => unknown
}

/** A connection of `mysql2/promise`, with the calls that are made on it. */
export interface MysqlConnection {
  /** Runs one statement with its parameters separate from its text. The first element of the result has the rows. */
  execute(query: MysqlQuery): Promise<unknown>
  /** Runs one statement without parameters. */
  query(query: string | MysqlQuery): Promise<unknown>
}

/** A connection of a pool. */
export interface MysqlPoolConnection extends MysqlConnection {
  /** Releases the connection to its pool. */
  release(): void
  /** Closes a connection that can no longer be used. */
  destroy(): void
}

/** A pool of `mysql2/promise`, with the call that is made on it. */
export interface MysqlPool {
  /** Returns a connection, as soon as one is free. */
  getConnection(): Promise<MysqlPoolConnection>
}

/** The options of a storage in MariaDB. `C` is the type of its transactions. */
export interface MysqlStorageOptions<C> extends SqlStorageOptions {
  /**
   * Makes a transaction of the host's library of the connection on which the storage makes a change, as in
   * `PostgresStorageOptions`: `(connection) => drizzle(connection)` is one. Default: they receive the connection itself.
   */
  transaction?(connection: MysqlPoolConnection): LibraryOf<C>
}

/** Creates a storage in a MariaDB database. @throws TypeError if the URL, the pool or an option is invalid */
export function openMysql<C extends MysqlConnection | HostTransaction>(
  urlOrPool: string | MysqlPool,
  { transaction, ...options }: MysqlStorageOptions<C>,
): HostedStorage<C> {
  if (typeof urlOrPool === 'string') refuseOtherUrls(urlOrPool)
  else if (!isPool(urlOrPool)) throw new TypeError('a MariaDB storage needs a URL, or a pool of mysql2/promise')

  checkStorageOptions('mysqlStorage', options, SQL_OPTIONS)
  need(FUNCTION[0](transaction), 'mysqlStorage', 'transaction', FUNCTION[1])
  const server = mariadbServer<C>(urlOrPool, new LentTransactions(transaction))
  return createServerStorage(server, createSqlContext(mysqlDialect, options))
}

/** The message does not show the URL, which may contain a password. */
function refuseOtherUrls(url: string): void {
  if (!/^(mysql|mariadb):\/\/./.test(url) || !URL.canParse(url)) {
    throw new TypeError('the URL of a MariaDB database begins with mysql:// or mariadb://')
  }
  if (new URL(url).pathname.length < 2) throw new TypeError('the URL must name a database: mysql://server/database')
}

const ROLL_BACK = command('rollback')
const COMMIT = command('commit')

/** MariaDB through mysql2: a pool that is opened for a URL, or the host's pool. */
function mariadbServer<C extends MysqlConnection | HostTransaction>(
  urlOrPool: string | MysqlPool,
  lent: LentTransactions<MysqlPoolConnection>,
): Server<C> {
  const isOwn = typeof urlOrPool === 'string'
  let own: OwnPool | undefined

  async function pool(): Promise<MysqlPool> {
    if (typeof urlOrPool !== 'string') return urlOrPool
    if (own !== undefined) return own
    const mysql = await loadMysql2()
    own ??= openPool(mysql, urlOrPool)
    return own
  }

  return {
    ...mariadbRules,
    first: isOwn ? [] : [ROLL_BACK],
    connect: async () => pooled(await (await pool()).getConnection(), lent, isOwn ? [START] : BEGIN),

    ofHost(given) {
      const transaction = lent.under(given)
      if (isHostTransaction(transaction)) return runnerIn(transaction)
      if (isConnection(transaction)) return runnerOn(transaction)
      throw new TypeError(
        'the transaction must be a connection of mysql2/promise, with a transaction open; ' +
          'of a connection with callbacks, pass connection.promise()',
      )
    },

    async close() {
      await own?.end().catch(() => undefined) // the server may be gone, and has closed the connections
    },
  }
}

/** Returns how transactions begin on a pool of the host. @throws TypeError if an argument is invalid */
export function beginOnMysql<C extends MysqlPoolConnection>(
  pool: MysqlPool,
  options: TransactionOptions,
): Beginning<C> {
  need(isPool(pool), 'inTransaction', 'pool', 'a pool of mysql2/promise')
  const level = command(`set transaction isolation level ${isolationIn(options)}`)
  const begin = [ROLL_BACK, level, START]
  const lent = new LentTransactions<MysqlPoolConnection>(undefined)
  return { begin, connect: async () => pooled(await pool.getConnection(), lent) }
}

/** A pool that the storage opened, and ends. */
interface OwnPool extends MysqlPool {
  end(): Promise<void>
  /** Calls the listener with each new connection, as mysql2 itself has it. */
  on(event: 'connection', listener: (connection: { query(sql: string, done: () => void): unknown }) => void): unknown
}

/**
 * The time limit for connecting, in milliseconds, and the number of statements a connection keeps prepared, which
 * exceeds the number that the storage uses. A server keeps 16,382 for all its connections, and mysql2 would keep as many
 * for one.
 */
const OPTIONS = { connectTimeout: 4000, maxPreparedStatements: 100 }

/**
 * What each connection of our own pool begins with. The last makes a node of a Galera cluster read what others have committed;
 * other servers may not know it.
 */
const SETTINGS = [
  `set session idle_transaction_timeout = ${MAX_IDLE_S}, autocommit = 1`,
  'set session transaction isolation level read committed',
  'set session wsrep_sync_wait = 7',
]

/**
 * Opens a pool. It does not connect yet. The server ends the
 * transactions on a connection whose process is silent: that is set ahead of everything else, and so is `autocommit`.
 */
function openPool({ createPool }: Mysql2, uri: string): OwnPool {
  const connectionLimit = poolSize(uri, 'connectionLimit')
  let pool: OwnPool
  try {
    pool = createPool({ uri, connectionLimit, ...OPTIONS })
  } catch {
    // No cause: it may show a part of the URL, and the password with it.
    throw new TypeError('mysql2 cannot read the URL of the database: write % as %25')
  }
  pool.on('connection', (connection) => {
    for (const setting of SETTINGS) connection.query(setting, () => undefined)
  })
  return pool
}

interface Mysql2 {
  createPool(options: object): OwnPool
}

/** A literal import inside of `try`: bundlers find the driver, and none fails if it is not installed. */
async function loadMysql2(): Promise<Mysql2> {
  let module: object
  try {
    module = await import('mysql2/promise')
  } catch (error) {
    throw notInstalled('mysql2', error)
  }
  return driverIn('mysql2', module, isMysql2)
}

function isMysql2(mysql: unknown): mysql is Mysql2 {
  return hasMethods(mysql, 'createPool')
}

/** Returns a connection out of the pool, as the runtime uses it. */
function pooled<C>(
  connection: MysqlPoolConnection,
  lent: LentTransactions<MysqlPoolConnection>,
  begin = BEGIN,
): ServerConnection<C> {
  const { identity, run } = runnerOn(connection)
  let open: unknown
  hear(identity) // two errors on one connection end the process: the pool listens for the first only
  return {
    identity,
    run,
    get transaction() {
      open ??= lent.of(connection, { identity, run })
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host, as C says; or by mysql2 for a URL
      return open as C
    },
    begin: () => begin,
    commit: () => run(COMMIT).then(() => true),
    rollBack: () => run(ROLL_BACK),
    release(isSound) {
      if (isSound) return connection.release()
      connection.destroy()
      destroySocket(identity, new Error('the server did not answer')) // mysql2 would wait for the server
    },
  }
}

/**
 * Returns what runs statements on a connection. One without parameters is sent as text: it is too rare to be kept prepared
 * on every connection, and a prepared statement runs in the database that was current when it was prepared.
 */
function runnerOn(connection: MysqlConnection): Runner {
  const inner = propertyOf(connection, 'connection') // a pool creates a new wrapper each time it hands a connection out
  return {
    identity: isObject(inner) ? inner : connection,
    async run({ sql, parameters }) {
      const query = { sql, values: [...parameters], ...AS_IT_IS }
      const answer = await (parameters.length === 0 ? connection.query(query) : connection.execute(query))
      return Array.isArray(answer) ? answer[0] : answer
    },
  }
}

/** Set for each query, because a host may have changed these options for all of them. */
const AS_IT_IS = {
  rowsAsArray: false,
  nestTables: false,
  namedPlaceholders: false,
  // A function, because mysql2 prefers a host's function to a plain `true`.
  typeCast: (_field: unknown, next: () => unknown) => next(),
} as const

/** Returns whether a value is a connection of `mysql2/promise`. One of `mysql2` itself has callbacks. */
function isConnection(value: unknown): value is MysqlConnection {
  return hasMethods(value, 'execute', 'query') && !hasMethods(value, 'promise') && !isPool(value)
}

/** Returns whether a value is a pool of `mysql2/promise`. One of `mysql2` itself has callbacks. */
function isPool(value: unknown): value is MysqlPool {
  return hasMethods(value, 'getConnection') && !hasMethods(value, 'promise')
}
