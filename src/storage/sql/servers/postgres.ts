import { hasMethods, isObject, need, propertyOf } from '../../../schema/arguments.ts'
import { FUNCTION } from '../../../schema/options.ts'
import type { SchemaStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from '../context.ts'
import { command } from '../dialect.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import { busy } from '../errors.ts'
import { MAX_CALL_MS } from '../retry.ts'
import type { HostedStorage } from '../stores/stores.ts'
import { saysNameIsWrong } from './answers.ts'
import type { HostTransaction, LibraryOf } from './host-transaction.ts'
import { isHostTransaction, runnerIn } from './host-transaction.ts'
import type { Beginning, TransactionOptions } from './in-transaction.ts'
import { isolationIn } from './in-transaction.ts'
import { LentTransactions } from './lent-transactions.ts'
import { MergedStatements } from './merged-statements.ts'
import { destroySocket, driverIn, hear, notInstalled, poolSize } from './pools.ts'
import { BEGIN, postgresRules } from './postgres-rules.ts'
import type { Runner, Server, ServerConnection } from './server.ts'
import { createServerStorage } from './server-runtime.ts'
import { StatementNames } from './statement-names.ts'

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

/** The options of a storage in PostgreSQL. `C` is the type of its transactions. */
export interface PostgresStorageOptions<C> extends SchemaStorageOptions {
  /**
   * Makes a transaction of the host's library of the client on which the storage makes a change, for ports and `beforeCommit`
   * outside of `withTransaction`: over HTTP too. They receive a `HostTransaction` with it as `identity`. Called for each change, after its connection was taken.
   * `(client) => drizzle(client)` is one. Default: they receive the client itself.
   */
  transaction?(client: PgPoolClient): LibraryOf<C>
}

/** Creates a storage in a PostgreSQL database. @throws TypeError if the URL, the pool or an option is invalid */
export function openPostgres<C extends PgClient | HostTransaction>(
  urlOrPool: string | PgPool,
  { transaction, ...options }: PostgresStorageOptions<C>,
): HostedStorage<C> {
  if (typeof urlOrPool !== 'string' && !isPgPool(urlOrPool)) {
    throw new TypeError('a PostgreSQL storage needs a URL, or a pool of pg')
  }
  if (typeof urlOrPool === 'string' && !/^(postgres|postgresql|socket):/.test(urlOrPool)) {
    throw new TypeError('the URL of a PostgreSQL database begins with postgres://')
  }

  checkStorageOptions('postgresStorage', options, SCHEMA_OPTIONS)
  need(FUNCTION[0](transaction), 'postgresStorage', 'transaction', FUNCTION[1])
  const server = postgresServer<C>(urlOrPool, new LentTransactions(transaction))
  return createServerStorage(server, createSqlContext(postgresDialect, options))
}

/** PostgreSQL through pg: a pool that is opened for a URL, or the host's pool. */
function postgresServer<C extends PgClient | HostTransaction>(
  urlOrPool: string | PgPool,
  lent: LentTransactions<PgPoolClient>,
): Server<C> {
  const names = new StatementNames()
  let own: OwnPool | undefined

  async function pool(): Promise<PgPool> {
    if (typeof urlOrPool !== 'string') return urlOrPool
    if (own !== undefined) return own
    const pg = await loadPg()
    own ??= openPool(pg, urlOrPool)
    return own
  }

  return {
    ...postgresRules,
    first: [],
    merged: new MergedStatements(),
    connect: async () => connect(await pool(), lent, names),

    ofHost(given) {
      const transaction = lent.under(given)
      if (isHostTransaction(transaction)) return runnerIn(transaction)
      if (isNative(transaction)) throw ofNative()
      if (isPgClient(transaction)) return runnerOn(transaction)
      throw new TypeError('the transaction must be a client of pg, with a transaction open')
    },

    async close() {
      await own?.end()
    },
  }
}

/** Returns how transactions begin on a pool of the host. @throws TypeError if an argument is invalid */
export function beginOnPg<C extends PgPoolClient>(pool: PgPool, options: TransactionOptions): Beginning<C> {
  need(isPgPool(pool), 'inTransaction', 'pool', 'a pool of pg')
  const begin = [command(`begin isolation level ${isolationIn(options)} read write`)]
  const lent = new LentTransactions<PgPoolClient>(undefined)
  return { begin, connect: () => connect(pool, lent) }
}

/** Takes a client out of a pool. */
async function connect<C>(
  pool: PgPool,
  lent: LentTransactions<PgPoolClient>,
  names?: StatementNames,
): Promise<ServerConnection<C>> {
  hear(pool)
  let client = await pool.connect()
  while (isInside(client)) {
    client.release(true) // the host left a transaction open: the server rolls it back
    client = await pool.connect()
  }
  if (isNative(client)) {
    client.release()
    throw ofNative()
  }
  return pooled<C>(client, lent, names)
}

/** A pool that the storage opened, and ends. */
interface OwnPool extends PgPool {
  end(): Promise<void>
}

/**
 * Creates a pool. It connects at first use. Parameters in the
 * query of the URL (`application_name`, `sslmode`) take precedence over the settings here; `max` limits the pool.
 */
function openPool({ Client, Pool }: Pg, connectionString: string): OwnPool {
  let client: object
  try {
    client = new Client({ connectionString }) // a pool reads its URL only when it connects
  } catch {
    // No cause: it would show the URL, and the password with it.
    throw new TypeError('pg cannot read the URL of the database')
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

interface Pg {
  readonly Client: new (options: object) => object
  readonly Pool: new (options: object) => OwnPool
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
function isPgPool(value: unknown): value is PgPool {
  return hasMethods(value, 'query', 'connect') && !('getTypeParser' in value)
}

/**
 * Returns what runs statements on a client of pg.
 *
 * @param names - of the prepared statements. None on the host's client, because the host may do anything with it
 */
function runnerOn(client: PgClient, names?: StatementNames): Runner {
  hear(client)
  return {
    identity: client,
    isPipelining: propertyOf(client, 'pipeline') === true,
    async run({ sql, parameters }) {
      const name = parameters.length === 0 ? undefined : names?.of(sql)
      try {
        const rows = propertyOf(await client.query({ text: sql, values: [...parameters], name, types: TYPES }), 'rows')
        names?.decide(client, rows)
        return rows
      } catch (error) {
        if (name === undefined || !saysNameIsWrong(error)) throw error
        names?.giveUp() // the host, or a proxy that looks like the server, does not keep them
        if (statusOf(client) !== 'I') throw busy('call', error)
        return propertyOf(await client.query({ text: sql, values: [...parameters], types: TYPES }), 'rows')
      }
    },
  }
}

/** The number of `double precision` in the catalogue of types. */
const DOUBLE_PRECISION = 701

/** How every query reads its columns, whatever parsers the host has set for pg: our columns are texts and doubles. */
const TYPES: PgTypes = { getTypeParser: (type) => (type === DOUBLE_PRECISION ? Number : String) }

const ROLL_BACK = command('rollback')

/** Returns a client out of the pool, as the runtime uses it. */
function pooled<C>(
  client: PgPoolClient,
  lent: LentTransactions<PgPoolClient>,
  names?: StatementNames,
): ServerConnection<C> {
  const { identity, isPipelining, run } = runnerOn(client, names)
  let open: unknown
  return {
    identity,
    isPipelining,
    run,
    get transaction() {
      open ??= lent.of(client, runnerOn(client))
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host, as C says; or by pg if a URL was given
      return open as C
    },
    // Older versions of pg do not know whether the host left a transaction open.
    begin: () => (statusOf(client) === undefined ? [ROLL_BACK, BEGIN] : [BEGIN]),
    // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and without an error.
    commit: async () => propertyOf(await client.query({ text: 'commit', values: [] }), 'command') !== 'ROLLBACK',
    rollBack: async () => (statusOf(client) === 'I' ? [] : run(ROLL_BACK)),
    release(isSound) {
      client.release(!isSound)
      if (!isSound) destroySocket(propertyOf(client, 'connection')) // a client that is pipelining would wait for answers
    },
  }
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
