import { hasMethods, isObject, propertyOf } from '../../../../schema/arguments.ts'
import { isError } from '../../../../schema/realms.ts'
import type { SqlValue } from '../../query.ts'
import { MAX_IDLE_S } from '../deadline.ts'
import { destroySocket, driverIn, ignoreErrors, notInstalled, openedPool, poolSize } from '../pools.ts'
import type { Client, Connection, Runner } from '../server.ts'
import type { WrappedTransactions } from '../wrapped-transactions.ts'

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

/** MariaDB through mysql2: a pool that is opened for a URL, or the host's pool. */
export function mysql2Client(urlOrPool: string | MysqlPool, wrapped: WrappedTransactions<MysqlPoolConnection>): Client {
  if (typeof urlOrPool !== 'string') {
    const size = propertyOf(propertyOf(propertyOf(urlOrPool, 'pool'), 'config'), 'connectionLimit')
    return { size: Number(size) || undefined, connect: () => connect(urlOrPool, wrapped) }
  }
  refuseUnknownParameters(urlOrPool)
  const own = openedPool(async () => openPool(await loadMysql2(), urlOrPool))
  return {
    size: poolSize(urlOrPool, 'connectionLimit'),
    connect: () => own.use((pool) => connect(pool, wrapped)),
    close: () => own.end().catch(() => undefined), // the server may be gone, and has closed the connections
  }
}

/** Takes a connection out of a pool. */
async function connect(pool: MysqlPool, wrapped: WrappedTransactions<MysqlPoolConnection>): Promise<Connection> {
  return new PooledMysql2(await pool.getConnection(), wrapped)
}

/** A pool that the storage opened. */
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
  } catch (error) {
    // No cause: it may show a part of the URL, and the password with it.
    if (!isError(error) || error.name === 'URIError') {
      throw new TypeError('mysql2 cannot read the URL of the database: write % as %25')
    }
    if (mayShowPassword(uri)) throw new TypeError('mysql2 cannot read the URL of the database: write @ as %40')
    const fix = /\bSSL\b/.test(error.message) ? `; ${FOR_TLS}` : ''
    throw new TypeError(`mysql2 refuses the URL of the database: ${error.message}${fix}`)
  }
  pool.on('connection', (connection) => {
    for (const setting of SETTINGS) connection.query(setting, () => undefined)
  })
  return pool
}

/** The options of mysql2 that a URL can have. It warns of others, and connects without them: `ssl-mode=REQUIRED` without TLS. */
const PARAMETERS: ReadonlySet<string> = new Set(
  `bigNumberStrings charset charsetNumber compress connectAttributes connectTimeout connectionLimit dateStrings debug
  decimalNumbers disableEval enableCleartextPlugin enableKeepAlive flags gracefulEnd idleTimeout insecureAuth jsonStrings
  keepAliveInitialDelay localAddress maxIdle maxPreparedStatements multipleStatements namedPlaceholders nestTables password1
  password2 password3 passwordSha1 queueLimit resetOnRelease rowsAsArray socketPath ssl stringifyObjects supportBigNumbers
  timezone trace typeCast waitForConnections`.split(/\s+/),
)

const FOR_TLS = 'for TLS, write ssl={"rejectUnauthorized":true}'

/** @throws TypeError for a parameter that mysql2 would ignore, with what to write instead */
function refuseUnknownParameters(url: string): void {
  const unknown = [...new URL(url).searchParams.keys()].find((name) => !PARAMETERS.has(name))
  if (unknown === undefined) return

  const name = mayShowPassword(url) ? 'such parameter' : `parameter "${unknown}"`
  const fix = /^(?:use)?(?:ssl|tls)/i.test(unknown) ? FOR_TLS : 'remove it, or correct its name'
  const instead = /sock/i.test(unknown) ? 'write socketPath' : fix
  throw new TypeError(`mysql2 reads no ${name} from the URL of the database: ${instead}`)
}

/** Returns whether a "/", "?" or "#" in the password may have ended the host early: the rest of the password follows. */
function mayShowPassword(url: string): boolean {
  const { pathname, search, hash } = new URL(url)
  return `${pathname}${search}${hash}`.includes('@')
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

/** Returns what runs statements in a transaction on a connection of mysql2. @throws TypeError if it cannot be one */
export function runnerOfMysql2(transaction: object): Runner {
  if (isConnection(transaction)) return new MysqlRunner(transaction)
  throw new TypeError(
    'the transaction must be a connection of mysql2/promise, with a transaction open; ' +
      'of a connection with callbacks, pass connection.promise()',
  )
}

/**
 * Runs statements on a connection. One without parameters is sent as text: it is too rare to be kept prepared
 * on every connection, and a prepared statement runs in the database that was current when it was prepared.
 */
class MysqlRunner<C extends MysqlConnection> implements Runner {
  readonly identity: object
  protected readonly connection: C

  constructor(connection: C) {
    const inner = propertyOf(connection, 'connection') // a pool creates a new wrapper each time it hands a connection out
    this.identity = isObject(inner) ? inner : connection
    this.connection = connection
  }

  async run(sql: string, parameters: readonly SqlValue[]): Promise<unknown> {
    const query = { sql, values: [...parameters], ...QUERY_OPTIONS }
    const { connection } = this
    const answer = await (parameters.length === 0 ? connection.query(query) : connection.execute(query))
    return Array.isArray(answer) ? answer[0] : answer
  }
}

/** Set for each query, because a host may have changed these options for all of them. */
const QUERY_OPTIONS = {
  rowsAsArray: false,
  nestTables: false,
  namedPlaceholders: false,
  // A function, because mysql2 prefers a host's function to a plain `true`.
  typeCast: (_field: unknown, next: () => unknown) => next(),
} as const

/** A connection out of the pool. */
class PooledMysql2 extends MysqlRunner<MysqlPoolConnection> implements Connection {
  readonly #wrapped: WrappedTransactions<MysqlPoolConnection>

  constructor(connection: MysqlPoolConnection, wrapped: WrappedTransactions<MysqlPoolConnection>) {
    super(connection)
    ignoreErrors(this.identity) // two errors on one connection end the process: the pool listens for the first only
    this.#wrapped = wrapped
  }

  get serverId(): number | undefined {
    return Number(propertyOf(this.identity, 'threadId')) || undefined
  }

  get transaction(): object {
    return this.#wrapped.wrap(this.connection, this)
  }

  release(isSound: boolean): void {
    if (isSound) this.connection.release()
    else {
      this.connection.destroy()
      destroySocket(this.identity, new Error('the server did not answer')) // mysql2 would wait for the server
    }
  }
}

/** Returns whether a value is a connection of `mysql2/promise`. One of `mysql2` itself has callbacks. */
function isConnection(value: unknown): value is MysqlConnection {
  return hasMethods(value, 'execute', 'query') && !hasMethods(value, 'promise') && !isMysqlPool(value)
}

/** Returns whether a value is a pool of `mysql2/promise`. One of `mysql2` itself has callbacks, and one of npm `mariadb` counts. */
export function isMysqlPool(value: unknown): value is MysqlPool {
  return hasMethods(value, 'getConnection') && !hasMethods(value, 'promise') && !hasMethods(value, 'activeConnections')
}
