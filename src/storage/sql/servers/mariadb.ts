import { need } from '../../../schema/arguments.ts'
import type { SqlStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from '../context.ts'
import { command } from '../dialect.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import { unavailable } from '../errors.ts'
import type { SqlValue, Statement } from '../query.ts'
import { MAX_IDLE_S } from './call.ts'
import type { HostTransaction } from './host-transaction.ts'
import { isHostTransaction, runnerIn } from './host-transaction.ts'
import type { Transactional, TransactionOptions } from './in-transaction.ts'
import { isolationIn, repeatTransaction } from './in-transaction.ts'
import { COMMIT, mariadbRules, ROLL_BACK } from './mariadb-rules.ts'
import { destroySocket, driver, hasMethods, hear, ignore, OwnSockets, poolSize } from './pools.ts'
import type { Rows, Server, ServerConnection } from './server.ts'
import type { ServerStorage } from './server-runtime.ts'
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

/** A pool that the storage opened, and ends. */
interface OwnPool extends MysqlPool {
  end(): Promise<void>
  /** Calls the listener with each new connection, as mysql2 itself has it. */
  on(event: 'connection', listener: (connection: unknown) => void): unknown
}

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
  if (!isDriver(mysql)) throw unavailable(OTHER)
  refuseUnreadable(url)
  const { searchParams } = new URL(url)
  const options = Object.fromEntries(Object.entries(OPTIONS).filter(([name]) => !searchParams.has(name)))
  const pool = mysql.createPool({ uri: url, connectionLimit: poolSize(url, 'connectionLimit'), ...options })
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

function isDriver(mysql: unknown): mysql is { createPool(options: object): unknown } {
  return hasMethods(mysql, 'createPool')
}

/** A connection as mysql2 itself has it. */
function isCalledBack(connection: unknown): connection is { query(sql: string, done: () => void): unknown } {
  return hasMethods(connection, 'query')
}

/** A connection out of the pool. */
class PooledConnection<C> implements ServerConnection<C> {
  readonly identity: object
  readonly #connection: MysqlPoolConnection
  readonly #before: readonly Statement<unknown>[]
  #first: readonly Statement<unknown>[]
  #isReleased = false

  /** @param before - what is sent first. On a connection of the host's, it ends a transaction that was left open there */
  constructor(connection: MysqlPoolConnection, before: readonly Statement<unknown>[]) {
    this.identity = physical(connection)
    this.#connection = connection
    this.#before = before
    this.#first = before
    hear(this.identity) // two errors on one connection end the process: the pool listens for the first only
  }

  get transaction(): C {
    const connection: unknown = this.#connection
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host's pool, as C says; or by mysql2 for a URL
    return connection as C
  }

  async run(statements: readonly Statement<unknown>[], refuse?: () => void): Promise<Rows> {
    const first = this.#first
    this.#first = []
    const textOf = (statement: Statement<unknown>): string => mariadbRules.textOf(statement, 'own')
    const rows = await run(this.#connection, [...first, ...statements], textOf, refuse)
    return rows.slice(first.length)
  }

  begin(): readonly Statement<unknown>[] {
    this.#first = []
    return [...this.#before, ...mariadbRules.begin]
  }

  async commit(): Promise<boolean> {
    await this.run([COMMIT])
    return true
  }

  rollBack(): Promise<unknown> {
    return this.run([ROLL_BACK])
  }

  lend<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  /** mysql2 itself would wait for the server to close the socket. */
  release(state: 'sound' | 'spoilt'): void {
    if (this.#isReleased) return
    this.#isReleased = true
    if (state === 'sound') {
      this.#connection.release()
      return
    }
    this.#connection.destroy()
    destroySocket(socketOf(this.identity), new Error('the server did not answer'))
  }
}

/**
 * Runs one statement after the other. One without parameters is sent as text: it is too rare to be kept prepared on every
 * connection, and a prepared statement runs in the database that was current when it was prepared.
 */
async function run(
  connection: MysqlConnection,
  statements: readonly Statement<unknown>[],
  textOf: (statement: Statement<unknown>) => string,
  refuse?: () => void,
): Promise<Rows> {
  const rows: (readonly unknown[])[] = []
  for (const statement of statements) {
    refuse?.()
    const query = queryOf(textOf(statement), statement.parameters)
    const answer = await (query.values.length === 0 ? connection.query(query) : connection.execute(query))
    rows.push(statement.returnsRows ? rowsIn(answer) : [])
  }
  return rows
}

/** The first element of an answer has the rows. */
function rowsIn(answer: unknown): readonly unknown[] {
  const rows: unknown = Array.isArray(answer) ? answer[0] : undefined
  return Array.isArray(rows) ? rows : []
}

/** Sets, for each query, the options that a host may have changed for all of them. */
function queryOf(sql: string, parameters: readonly SqlValue[]): MysqlQuery {
  return {
    sql,
    values: [...parameters],
    rowsAsArray: false,
    nestTables: false,
    namedPlaceholders: false,
    typeCast: asIs,
  }
}

/** A function, because mysql2 prefers a host's function to a plain `true`. */
function asIs(_field: unknown, next: () => unknown): unknown {
  return next()
}

/** Returns the connection itself: a pool creates a new wrapper each time it hands a connection out. */
function physical(connection: MysqlConnection): object {
  return 'connection' in connection && typeof connection.connection === 'object' && connection.connection !== null
    ? connection.connection
    : connection
}

function socketOf(connection: unknown): unknown {
  return typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : undefined
}

/** Returns whether a value is a connection of `mysql2/promise`. */
function isConnection(value: unknown): value is MysqlConnection {
  return hasMethods(value, 'execute', 'query') && !speaksCallbacks(value)
}

/** Returns whether a value is a pool of `mysql2/promise`. */
function isPool(value: unknown): value is MysqlPool {
  return hasMethods(value, 'getConnection') && !speaksCallbacks(value)
}

/** Returns whether a value is a pool that can be ended. */
function isOwnPool(value: unknown): value is OwnPool {
  return isPool(value) && hasMethods(value, 'end', 'on')
}

/** Returns whether a pool or connection belongs to `mysql2` itself, whose calls return nothing and take a callback. */
function speaksCallbacks(value: unknown): boolean {
  return hasMethods(value, 'promise')
}
