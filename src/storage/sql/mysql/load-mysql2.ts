import { createRequire } from 'node:module'
import { unavailable } from '../server/failures.ts'
import type { MysqlConnection, OwnPool } from './mysql-pool.ts'
import { isOwnPool } from './mysql-pool.ts'

/**
 * How long a connection may take to be made, in milliseconds; and how many statements it keeps prepared, which are more
 * than we have: a server keeps 16,382 for all its connections, and mysql2 would keep as many for one.
 */
const OPTIONS = { connectTimeout: 4000, maxPreparedStatements: 100 }

/**
 * Opens a pool with the mysql2 that is installed beside the application. Nothing is connected yet.
 *
 * @param url - what it names by parameters (`?connectionLimit=20`) are options of mysql2's
 * @throws ForgeError `STORAGE_UNAVAILABLE` when there is no mysql2
 */
export function openPool<C extends MysqlConnection>(url: string): OwnPool<C> {
  const driver = installedDriver()
  if (typeof driver !== 'object' || driver === null) {
    throw unavailable('mysql2 is not installed: npm i mysql2, or hand in an open pool instead of a URL')
  }
  const pool: unknown =
    'createPool' in driver && typeof driver.createPool === 'function'
      ? driver.createPool({ uri: url, ...OPTIONS })
      : undefined
  if (!isOwnPool(pool)) throw unavailable('the mysql2 that is installed opens no pool of promises: npm i mysql2@3')

  return pool as OwnPool<C> // made by the mysql2 beside the application; or C is what the host says it is
}

function installedDriver(): unknown {
  const require = createRequire(import.meta.url)
  try {
    return require('mysql2/promise')
  } catch {
    return undefined
  }
}
