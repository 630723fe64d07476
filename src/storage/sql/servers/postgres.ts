import { need } from '../../../schema/arguments.ts'
import type { SchemaStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from '../context.ts'
import { command } from '../dialect.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import { unavailable } from '../errors.ts'
import { MAX_CALL_MS } from './call.ts'
import type { HostTransaction } from './host-transaction.ts'
import { isHostTransaction, runnerIn } from './host-transaction.ts'
import type { Transactional, TransactionOptions } from './in-transaction.ts'
import { isolationIn, repeatTransaction } from './in-transaction.ts'
import type { OwnPool, PgClient, PgPool, PgPoolClient } from './pg-client.ts'
import {
  Client,
  isBinary,
  isPgClient,
  isPgPool,
  PooledClient,
  StatementNames,
  socketOf,
  statusOf,
} from './pg-client.ts'
import { driver, hasMethods, hear, ignore, isEmitter, OwnSockets, poolSize } from './pools.ts'
import { postgresRules } from './postgres-rules.ts'
import type { Server } from './server.ts'
import type { ServerStorage } from './server-runtime.ts'
import { createServerStorage } from './server-runtime.ts'

/** Creates a storage in a PostgreSQL database. @throws TypeError if the URL, the pool or an option is invalid */
export function openPostgres<C extends PgClient | HostTransaction>(
  urlOrPool: string | PgPool,
  options: SchemaStorageOptions,
): ServerStorage<C> {
  if (typeof urlOrPool !== 'string' && !isPgPool(urlOrPool)) {
    throw new TypeError('a PostgreSQL storage needs a URL, or a pool of pg')
  }
  if (typeof urlOrPool === 'string' && !/^(postgres|postgresql|socket):/.test(urlOrPool)) {
    throw new TypeError('the URL of a PostgreSQL database begins with postgres://')
  }

  checkStorageOptions('postgresStorage', options, SCHEMA_OPTIONS)
  return createServerStorage(postgresServer<C>(urlOrPool), createSqlContext(postgresDialect, options))
}

/** PostgreSQL through pg: a pool that is opened for a URL, or the host's pool. */
function postgresServer<C extends PgClient | HostTransaction>(urlOrPool: string | PgPool): Server<C> {
  const names = new StatementNames()
  const sockets = new OwnSockets()
  let own: OwnPool | undefined
  let isHeard = false

  function pool(): PgPool {
    if (typeof urlOrPool === 'string') {
      own ??= openPool(urlOrPool, (client) => {
        hear(client)
        sockets.add(socketOf(client))
      })
      return own
    }
    if (!isHeard) listenTo(urlOrPool)
    isHeard = true
    return urlOrPool
  }

  return {
    ...postgresRules,

    connect: () => connect(pool(), names),

    ofHost(transaction) {
      if (isHostTransaction(transaction)) return runnerIn(transaction, postgresRules.textOf)
      if (!isPgClient(transaction)) {
        throw new TypeError('the transaction must be a client of pg, with a transaction open')
      }
      if (isBinary(transaction)) throw binaryRefused()
      hear(transaction)
      return new Client(transaction)
    },

    async close() {
      if (own !== undefined) await own.end()
      sockets.destroyLater()
      if (!isHeard || !isEmitter(urlOrPool)) return
      urlOrPool.off('error', ignore)
      urlOrPool.off('acquire', hear)
      urlOrPool.off('release', hearNoLonger)
    },
  }
}

/**
 * Runs work with the services of a forge in a transaction on a client of the host's pool, and commits it.
 *
 * @throws TypeError if an argument is invalid, and as documented at `inTransaction`
 */
export async function inPostgresTransaction<T, C extends PgPoolClient, S>(
  pool: PgPool,
  forge: Transactional<C, S>,
  work: (services: S, client: C) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  need(isPgPool(pool), 'inTransaction', 'pool', 'a pool of pg')
  const begin = [command(`begin isolation level ${isolationIn(options)} read write`)]
  if (isEmitter(pool) && !pool.listeners('acquire').includes(hear)) listenTo(pool)
  return repeatTransaction({ rules: postgresRules, begin, connect: () => connect<C>(pool) }, forge, work)
}

/** Takes a client out of a pool. */
async function connect<C>(pool: PgPool, names?: StatementNames): Promise<PooledClient<C>> {
  let client = await pool.connect()
  while (statusOf(client) === 'inside') {
    client.release(true) // the host left a transaction open: the server rolls it back
    client = await pool.connect()
  }
  if (!isBinary(client)) return new PooledClient<C>(client, names)
  client.release()
  throw binaryRefused()
}

function binaryRefused(): TypeError {
  return new TypeError('a client of pg with the option binary cannot be used, because pg returns wrong numbers with it')
}

/** Listens for the errors of a pool of the host, and of its clients in use. */
function listenTo(pool: PgPool): void {
  if (!isEmitter(pool)) return
  pool.on('error', ignore)
  pool.on('acquire', hear)
  pool.on('release', hearNoLonger)
}

/** A pool listens to its idle clients itself. */
function hearNoLonger(_error: unknown, client: unknown): void {
  if (isEmitter(client)) client.off('error', ignore)
}

/**
 * Creates a pool with the pg that is installed beside the application. It connects at first use. Parameters in the
 * query of the URL (`application_name`, `sslmode`) take precedence over the settings here; `max` limits the pool.
 */
function openPool(url: string, opened: (client: unknown) => void): OwnPool {
  const pg = driver('pg')
  try {
    constructed(pg, 'Client', { connectionString: url }) // a pool reads its URL only when it connects
  } catch {
    // No cause: it would show the URL, and the password with it.
    throw new TypeError('pg cannot read the URL of the database')
  }
  const pool = constructed(pg, 'Pool', {
    connectionString: url,
    max: poolSize(url, 'max'),
    connectionTimeoutMillis: MAX_CALL_MS,
    keepAlive: true,
    pipeline: true,
    allowExitOnIdle: true,
    application_name: 'forgelet',
  })
  if (!isOwnPool(pool)) throw unavailable('the installed pg has no pools: npm i pg@8')
  hear(pool)
  pool.on('connect', opened)
  return pool
}

function constructed(pg: unknown, name: string, options: object): unknown {
  const Constructor: unknown = typeof pg === 'object' && pg !== null ? Reflect.get(pg, name) : undefined
  return typeof Constructor === 'function' ? Reflect.construct(Constructor, [options]) : undefined
}

function isOwnPool(pool: unknown): pool is OwnPool {
  return isPgPool(pool) && hasMethods(pool, 'end', 'on')
}
