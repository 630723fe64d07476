import { hasMethods, propertyOf } from '../../../../schema/arguments.ts'
import { fromMariadb } from '../host-transaction.ts'
import type { MariadbTransaction } from '../libraries.ts'
import { ignoreErrors } from '../pools.ts'
import type { Client } from '../server.ts'

/** A connection out of a pool of the package `mariadb`, with the calls that are made on it. */
export interface MariadbConnection extends MariadbTransaction {
  /** Releases the connection to its pool. */
  release(): Promise<void> | void
  /** Closes a connection that can no longer be used. */
  destroy(): void
}

/** A pool of the package `mariadb`, with the call that is made on it. */
export interface MariadbPool {
  /** Returns a connection, as soon as one is free. */
  getConnection(): Promise<MariadbConnection>
}

/** MariaDB through the package `mariadb`. */
export function mariadbClient(pool: MariadbPool): Client {
  return {
    async connect() {
      const connection = await pool.getConnection()
      const transaction = fromMariadb(connection)
      ignoreErrors(connection)
      return {
        ...transaction,
        transaction,
        serverId: Number(propertyOf(connection, 'threadId')) || undefined,
        release(isSound) {
          if (isSound) void connection.release()
          else connection.destroy()
        },
      }
    },
  }
}

/** Returns whether a value is a pool of the promise API. One of mysql2 has other methods. */
export function isMariadbPool(value: unknown): value is MariadbPool {
  return hasMethods(value, 'getConnection', 'activeConnections')
}
