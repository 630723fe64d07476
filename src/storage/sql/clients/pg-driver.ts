import { createRequire } from 'node:module'
import { unavailable } from '../errors.ts'
import { MAX_CALL_MS } from '../server/call-deadline.ts'
import type { OwnPool } from './pg-pool.ts'
import { isPgPool } from './pg-pool.ts'
import { poolSize } from './pool-size.ts'

/**
 * Creates a pool with the pg that is installed beside the application. It connects at first use. Parameters in the
 * query of the URL (`application_name`, `sslmode`) take precedence over the settings here; `max` limits the pool.
 *
 * @throws ForgeError `STORAGE_UNAVAILABLE` if pg is not installed; TypeError for a URL that pg cannot read, or a `max`
 * that is not an integer from 1 to 1000
 */
export function openPool(url: string): OwnPool {
  const pg = loaded()
  refuseUnreadable(pg, url)
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
  return pool
}

function loaded(): unknown {
  const require = createRequire(import.meta.url)
  try {
    return require('pg')
  } catch (error) {
    throw unavailable('pg is not installed: npm i pg, or pass a pool instead of a URL', error)
  }
}

/** A pool reads its URL for each connection, a client when it is created. */
function refuseUnreadable(pg: unknown, url: string): void {
  try {
    constructed(pg, 'Client', { connectionString: url })
  } catch {
    // No cause: it would show the URL, and the password with it.
    throw new TypeError('pg cannot read the URL of the database')
  }
}

function constructed(pg: unknown, name: string, options: object): unknown {
  const Constructor: unknown = typeof pg === 'object' && pg !== null ? Reflect.get(pg, name) : undefined
  return typeof Constructor === 'function' ? Reflect.construct(Constructor, [options]) : undefined
}

function isOwnPool(value: unknown): value is OwnPool {
  return isPgPool(value) && ['end', 'on'].every((name) => typeof Reflect.get(value, name) === 'function')
}
