import { hasMethods, isObject, propertyOf } from '../../../../schema/arguments.ts'
import { isError } from '../../../../schema/realms.ts'
import { busy } from '../../errors.ts'
import type { SqlValue } from '../../query.ts'
import { MAX_CALL_MS } from '../../retry.ts'
import { isWrongStatementName } from '../errors.ts'
import { destroySocket, driverIn, ignoreErrors, notInstalled, openedPool, poolSize } from '../pools.ts'
import type { Client, Connection, Runner } from '../server.ts'
import { StatementNames } from '../statement-names.ts'
import type { WrappedTransactions } from '../wrapped-transactions.ts'

/** How pg reads the columns of one query. */
export interface PgTypes {
  /** Returns the reader for values of a type, by its number in the catalogue. */
  getTypeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown
}

/** One query, as pg accepts it. */
export interface PgQuery {
  readonly text: string
  readonly values: unknown[]
  /** The name of the prepared statement on the connection. */
  readonly name?: string | undefined
  readonly types?: PgTypes
}

/** The answer to a query. */
export interface PgAnswer {
  readonly rows: readonly unknown[]
}

/** A connection of pg, with the call that is made on it: a `Client`, or a client of a `Pool`. */
export interface PgClient {
  /** Runs one query, or several statements without values. */
  query(query: PgQuery): Promise<PgAnswer>
}

/** A client that returns to its pool, or is closed if something is wrong with it. */
export interface PgPoolClient extends PgClient {
  /** Releases it to the pool, or closes it. */
  release(destroy?: boolean): void
}

/** A pool of pg, with the calls that are made on it. */
export interface PgPool extends PgClient {
  /** Takes a client out of the pool, once one is free. */
  connect(): Promise<PgPoolClient>
}

/** PostgreSQL through pg: a pool that is opened for a URL, or the host's pool. */
export function pgClient(urlOrPool: string | PgPool, wrapped: WrappedTransactions<PgPoolClient>): Client {
  const names = new StatementNames()
  if (typeof urlOrPool !== 'string') {
    const size = propertyOf(propertyOf(urlOrPool, 'options'), 'max')
    return {
      size: Number(size) || undefined,
      connect: () => connect(urlOrPool, wrapped, names),
    }
  }
  const own = openedPool(async () => openPool(await loadPg(), urlOrPool))
  return {
    size: poolSize(urlOrPool, 'max'),
    connect: () => own.use((pool) => connect(pool, wrapped, names)),
    close: () => own.end(),
  }
}

/** Takes a client out of a pool. */
function connect(pool: PgPool, wrapped: WrappedTransactions<PgPoolClient>, names: StatementNames): Promise<Connection> {
  ignoreErrors(pool)
  return pool.connect().then((client) => {
    if (isNative(client)) {
      client.release()
      throw ofNative()
    }
    if (!isInside(client)) return new PooledPg(client, wrapped, names)
    client.release(true) // the host left a transaction open: the server rolls it back
    return connect(pool, wrapped, names)
  })
}

/**
 * Creates a pool. It connects at first use. Parameters in the
 * query of the URL (`application_name`, `sslmode`) take precedence over the settings here; `max` limits the pool.
 */
function openPool({ Client, Pool }: Pg, connectionString: string): OwnPgPool {
  let client: object
  try {
    client = new Client({ connectionString }) // a pool reads its URL only when it connects
  } catch (error) {
    throw unreadable(connectionString, error)
  }
  return new Pool({
    connectionString,
    max: poolSize(connectionString, 'max'),
    connectionTimeoutMillis: MAX_CALL_MS,
    keepAlive: true,
    pipeline: true,
    allowExitOnIdle: hasMethods(client, 'unref'), // pg has had it since 8.7, and any version may come with a newer pool
    application_name: 'forgelet',
  })
}

/** Returns what to throw if pg cannot read a URL. No cause: it would show the URL, and the password with it. */
function unreadable(url: string, error: unknown): TypeError {
  const [path, code] = [propertyOf(error, 'path'), propertyOf(error, 'code')]
  if (path !== undefined) {
    const parameters = new URLSearchParams(url.split(/[?#]/)[1])
    const name = FILES.find((parameter) => parameters.get(parameter) === path) ?? FILES.join(' or ')
    return new TypeError(`the file of ${name} in the URL of the database cannot be read (${code})`)
  }
  const isOwn = isError(error) && error.name === 'Error' && !error.message.includes('@')
  return new TypeError(
    isOwn ? `pg refuses the URL of the database: ${error.message}` : 'pg cannot read the URL of the database',
  )
}

/** The parameters that name files, which pg reads with the URL. */
const FILES = ['sslrootcert', 'sslcert', 'sslkey']

interface OwnPgPool extends PgPool {
  end(): Promise<void>
}

interface Pg {
  readonly Client: new (options: object) => object
  readonly Pool: new (options: object) => OwnPgPool
}

/** A literal import inside of `try`: bundlers find the driver, and none fails if it is not installed. */
async function loadPg(): Promise<Pg> {
  let module: object
  try {
    module = await import('pg')
  } catch (error) {
    throw notInstalled('pg', error)
  }
  return driverIn('pg', module, isPg)
}

function isPg(pg: unknown): pg is Pg {
  return hasMethods(pg, 'Client', 'Pool')
}

/** Returns whether a value has the call of a client. */
function isPgClient(value: unknown): value is PgClient {
  return hasMethods(value, 'query')
}

/** Returns whether a value has the calls of a pool. A client has them too, and also its own parsers. */
export function isPgPool(value: unknown): value is PgPool {
  return hasMethods(value, 'query', 'connect') && !('getTypeParser' in value)
}

/** Runs statements on a client of pg. */
class PgRunner<C extends PgClient> implements Runner {
  readonly identity: C
  readonly pipelined: Runner['pipelined']
  readonly #names: StatementNames | undefined

  /** @param names - of the prepared statements. None on the host's client, because the host may do anything with it */
  constructor(client: C, names?: StatementNames) {
    ignoreErrors(client)
    this.identity = client
    this.pipelined = propertyOf(client, 'pipeline') === true ? (send) => inOnePacket(client, send) : undefined
    this.#names = names
  }

  async run(sql: string, parameters: readonly SqlValue[]): Promise<unknown> {
    const client = this.identity
    const names = this.#names
    const name = parameters.length === 0 ? undefined : names?.of(sql)
    try {
      const rows = propertyOf(await client.query({ text: sql, values: [...parameters], name, types: TYPES }), 'rows')
      names?.decide(client, rows)
      return rows
    } catch (error) {
      if (name === undefined || !isWrongStatementName(error)) throw error
      names?.giveUp() // the host, or a proxy that looks like the server, does not keep them
      if (statusOf(client) !== 'I') throw busy('call', error)
      return propertyOf(await client.query({ text: sql, values: [...parameters], types: TYPES }), 'rows')
    }
  }
}

/** Sends statements in one packet. Otherwise each is a packet, which costs a system call. */
function inOnePacket<T>(client: PgClient, send: () => T): T {
  const stream = propertyOf(propertyOf(client, 'connection'), 'stream')
  if (!isCorkable(stream)) return send()
  stream.cork()
  try {
    return send()
  } finally {
    stream.uncork()
  }
}

function isCorkable(stream: unknown): stream is { cork(): void; uncork(): void } {
  return hasMethods(stream, 'cork', 'uncork')
}

/** The number of `double precision` in the catalogue of types. */
const DOUBLE_PRECISION = 701

/** How every query reads its columns, whatever parsers the host has set for pg: our columns are texts and doubles. */
const TYPES: PgTypes = { getTypeParser: (type) => (type === DOUBLE_PRECISION ? Number : String) }

/**
 * A client out of the pool. It is a class because V8 makes a hidden class for each object literal with an accessor, and keeps it
 * until a full garbage collection.
 */
class PooledPg extends PgRunner<PgPoolClient> implements Connection {
  readonly #wrapped: WrappedTransactions<PgPoolClient>

  constructor(client: PgPoolClient, wrapped: WrappedTransactions<PgPoolClient>, names: StatementNames) {
    super(client, names)
    this.#wrapped = wrapped
  }

  get serverId(): number | undefined {
    return Number(propertyOf(this.identity, 'processID')) || undefined
  }

  get transaction(): object {
    return this.#wrapped.wrap(this.identity, new PgRunner(this.identity))
  }

  get status(): unknown {
    return statusOf(this.identity)
  }

  /** PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and without an error. */
  async commit(): Promise<boolean> {
    return propertyOf(await this.identity.query({ text: 'commit', values: [] }), 'command') !== 'ROLLBACK'
  }

  release(isSound: boolean): void {
    this.identity.release(!isSound)
    if (!isSound) destroySocket(propertyOf(this.identity, 'connection')) // a client that is pipelining would wait for answers
  }
}

/** Returns what runs statements in a transaction on a client of pg. @throws TypeError if it cannot be one */
export function runnerOfPg(transaction: object): Runner {
  if (isNative(transaction)) throw ofNative()
  if (isPgClient(transaction)) return new PgRunner(transaction)
  throw new TypeError('the transaction must be a client of pg, with a transaction open')
}

/** Returns whether a client is one of pg-native, which reads rows by the parsers of pg, and takes one statement at a time. */
function isNative(client: object): boolean {
  return isObject(propertyOf(client, 'native'))
}

function ofNative(): TypeError {
  return new TypeError('the storage needs a client of pg, and this one is of pg-native: take pg without native')
}

/** Returns whether the host has left a transaction open on a client. */
function isInside(client: PgClient): boolean {
  return /^[TE]$/.test(String(statusOf(client)))
}

/** Returns I for a client outside of a transaction, T or E inside of one; undefined if the version of pg does not know. */
function statusOf(client: PgClient): unknown {
  if (!('getTransactionStatus' in client) || typeof client.getTransactionStatus !== 'function') return undefined
  return client.getTransactionStatus() ?? undefined
}
