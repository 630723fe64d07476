import { propertyOf } from '../../../../schema/arguments.ts'
import { runUnsafe } from '../host-transaction.ts'
import type { PostgresJsTransaction } from '../libraries.ts'
import type { Client } from '../server.ts'
import { borrowed } from './borrowed.ts'

/** The `sql` of postgres.js, with the call that is made on it. */
export interface PostgresJs {
  /** Returns a connection, as soon as one is free. */
  reserve(): Promise<PostgresJsConnection>
  readonly options?: { readonly fetch_types?: boolean }
}

/** A connection of postgres.js. */
export interface PostgresJsConnection extends Pick<PostgresJsTransaction, 'unsafe'> {
  /** Releases the connection to its pool. */
  release(): void
}

/** PostgreSQL through postgres.js. @throws TypeError if it cannot reserve the connections that it opens */
export function postgresJsClient(sql: PostgresJs): Client {
  if (sql.options?.fetch_types === false) {
    // https://github.com/porsager/postgres/issues/751
    throw new TypeError('postgres.js with fetch_types: false never reserves a connection that it opens: leave it out')
  }
  return {
    async connect() {
      const identity = await sql.reserve()
      const transaction = { identity, run: runUnsafe(identity, true) }
      const release = (isLost: boolean): void => {
        if (!isLost) identity.release() // a lost one would be used again
      }
      const connection = borrowed(transaction, transaction, release)
      return {
        ...connection,
        pipelined: (send) => send(),
        commit: async () => propertyOf(await connection.run('commit', []), 'command') !== 'ROLLBACK',
      }
    },
  }
}

/** Returns whether a value is the `sql` of postgres.js, and not one of its transactions. */
export function isPostgresJs(value: unknown): value is PostgresJs {
  return typeof value === 'function' && 'reserve' in value && 'unsafe' in value
}
