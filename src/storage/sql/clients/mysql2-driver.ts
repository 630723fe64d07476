import { createRequire } from 'node:module'
import { unavailable } from '../errors.ts'
import type { MysqlConnection, OwnPool } from './mysql2-pool.ts'
import { isOwnPool } from './mysql2-pool.ts'
import { poolSize } from './pool-size.ts'

/**
 * The time limit for connecting, in milliseconds, and the number of statements a connection keeps prepared, which
 * exceeds the number that the storage uses. A server keeps 16,382 for all its connections, and mysql2 would keep as many for one.
 */
const OPTIONS = { connectTimeout: 4000, maxPreparedStatements: 100 }

/**
 * Opens a pool with the mysql2 that is installed beside the application. It does not connect yet.
 *
 * @param url - its parameters (`?connectionLimit=20`) are options of mysql2
 * @throws ForgeError `STORAGE_UNAVAILABLE` if mysql2 is not installed; TypeError for a URL that it cannot read, or a
 * `connectionLimit` that is not an integer from 1 to 1000
 */
export function openPool<C extends MysqlConnection>(url: string): OwnPool<C> {
  const driver = loaded()
  if (typeof driver !== 'object' || driver === null || !('createPool' in driver)) throw unavailable(OTHER)
  if (typeof driver.createPool !== 'function') throw unavailable(OTHER)

  refuseUnreadable(url)
  const pool: unknown = driver.createPool({
    uri: url,
    connectionLimit: poolSize(url, 'connectionLimit'),
    ...optionsBeside(url),
  })
  if (!isOwnPool(pool)) throw unavailable(OTHER)
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the mysql2 beside the application, whose type C is
  return pool as OwnPool<C>
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

/** Options in the URL take precedence over ours. */
function optionsBeside(url: string): Readonly<Record<string, number>> {
  const { searchParams } = new URL(url)
  return Object.fromEntries(Object.entries(OPTIONS).filter(([name]) => !searchParams.has(name)))
}

const OTHER = 'the installed mysql2 has no pools with promises: npm i mysql2@3'

function loaded(): unknown {
  const require = createRequire(import.meta.url)
  try {
    return require('mysql2/promise')
  } catch (error) {
    throw unavailable('mysql2 is not installed: npm i mysql2, or pass a pool instead of a URL', error)
  }
}
