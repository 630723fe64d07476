import { propertyOf } from '../../../../schema/arguments.ts'
import type { PostgresJsTransaction } from '../host-transaction.ts'
import { runnerIn, runUnsafe } from '../host-transaction.ts'
import type { Client } from '../server.ts'
import { borrowed } from './borrowed.ts'

/** The `sql` of postgres.js, with the call that is made on it. */
export interface PostgresJs {
  /** Returns a connection, as soon as one is free. */
  reserve(): Promise<PostgresJsConnection>
}

/** A connection of postgres.js. */
export interface PostgresJsConnection extends Pick<PostgresJsTransaction, 'unsafe'> {
  /** Releases the connection to its pool. */
  release(): void
}

/** PostgreSQL through postgres.js. */
export function postgresJsClient(sql: PostgresJs): Client {
  const options = propertyOf(sql, 'options')
  const prepares = propertyOf(options, 'prepare') !== false
  return {
    size: Number(propertyOf(options, 'max')) || undefined,
    async connect() {
      const identity = await sql.reserve()
      const transaction = { identity, run: runUnsafe(identity, prepares) }
      const release = (isLost: boolean): void => {
        if (!isLost) identity.release() // a lost one would be used again
      }
      return {
        ...borrowed(runnerIn(transaction), transaction, release),
        pipelined: (send) => send(),
        commit: async () => propertyOf(await identity.unsafe('commit', []), 'command') !== 'ROLLBACK',
      }
    },
    close: async () => undefined, // it is the host's
  }
}

/** Returns whether a value is the `sql` of postgres.js, and not one of its transactions. */
export function isPostgresJs(value: unknown): value is PostgresJs {
  return typeof value === 'function' && 'reserve' in value && 'unsafe' in value
}
