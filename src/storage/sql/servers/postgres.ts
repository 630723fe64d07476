import { need } from '../../../schema/arguments.ts'
import type { SchemaStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from '../context.ts'
import { command } from '../dialect.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import type { HostedStorage } from '../hosted-storage.ts'
import { MAX_CALL_MS } from './call.ts'
import type { HostTransaction } from './host-transaction.ts'
import { isHostTransaction, runnerIn } from './host-transaction.ts'
import type { Transactional, TransactionOptions } from './in-transaction.ts'
import { isolationIn, repeatTransaction } from './in-transaction.ts'
import type { PgClient, PgPool, PgPoolClient } from './pg-client.ts'
import { isInside, isPgClient, isPgPool, pooled, runnerOn, StatementNames } from './pg-client.ts'
import { driver, hasMethods, hear, poolSize } from './pools.ts'
import { postgresRules } from './postgres-rules.ts'
import type { Server, ServerConnection } from './server.ts'
import { createServerStorage } from './server-runtime.ts'

/** Creates a storage in a PostgreSQL database. @throws TypeError if the URL, the pool or an option is invalid */
export function openPostgres<C extends PgClient | HostTransaction>(
  urlOrPool: string | PgPool,
  options: SchemaStorageOptions,
): HostedStorage<C> {
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
  let own: OwnPool | undefined

  function pool(): PgPool {
    if (typeof urlOrPool !== 'string') return urlOrPool
    own ??= openPool(urlOrPool)
    return own
  }

  return {
    ...postgresRules,
    first: [],
    connect: () => connect(pool(), names),

    ofHost(transaction) {
      if (isHostTransaction(transaction)) return runnerIn(transaction)
      if (isPgClient(transaction)) return runnerOn(transaction)
      throw new TypeError('the transaction must be a client of pg, with a transaction open')
    },

    async close() {
      await own?.end()
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
  return repeatTransaction({ begin, connect: () => connect<C>(pool) }, forge, work)
}

/** Takes a client out of a pool. */
async function connect<C>(pool: PgPool, names?: StatementNames): Promise<ServerConnection<C>> {
  hear(pool)
  let client = await pool.connect()
  while (isInside(client)) {
    client.release(true) // the host left a transaction open: the server rolls it back
    client = await pool.connect()
  }
  return pooled<C>(client, names)
}

/** A pool that the storage opened, and ends. */
interface OwnPool extends PgPool {
  end(): Promise<void>
}

/**
 * Creates a pool with the pg that is installed beside the application. It connects at first use. Parameters in the
 * query of the URL (`application_name`, `sslmode`) take precedence over the settings here; `max` limits the pool.
 */
function openPool(connectionString: string): OwnPool {
  const { Client, Pool } = driver('pg', isDriver)
  try {
    new Client({ connectionString }) // a pool reads its URL only when it connects
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
    allowExitOnIdle: true,
    application_name: 'forgelet',
  })
}

function isDriver(pg: unknown): pg is {
  readonly Client: new (options: object) => unknown
  readonly Pool: new (options: object) => OwnPool
} {
  return hasMethods(pg, 'Client', 'Pool')
}
