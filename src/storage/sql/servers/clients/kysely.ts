import { hasMethods } from '../../../../schema/arguments.ts'
import { isKysely, runIn } from '../host-transaction.ts'
import type { KyselyExecutor } from '../libraries.ts'
import type { Client, Connection } from '../server.ts'
import { borrowed } from './borrowed.ts'

/**
 * A `Kysely` of the host, of any version and any tables, with the call that is made on it. `K` is the same, bound to one
 * connection.
 */
export interface KyselyDatabase<K = KyselyExecutor> {
  /** Prepares the use of one connection. */
  connection(): {
    /** Runs work on the connection, and releases it. */
    execute<T>(work: (connection: K) => Promise<T>): Promise<T>
  }
}

/**
 * How long a lost connection is kept, in milliseconds. Kysely cannot destroy a connection, and its pool may learn of the loss only
 * when the socket ends: until then, the pool would lend the connection again.
 */
const UNTIL_NOTICED_MS = 100

/** A server through the Kysely of a host: a connection is held until its callback returns. */
export function kyselyClient(database: KyselyDatabase): Client {
  return {
    connect: () =>
      new Promise<Connection>((resolve, reject) => {
        const use = (bound: KyselyExecutor): Promise<void> =>
          new Promise((release) => {
            const returned = async (isLost: boolean): Promise<void> => {
              if (isLost) await new Promise((goOn) => setTimeout(goOn, UNTIL_NOTICED_MS))
              release()
            }
            resolve(borrowed({ identity: bound, run: runIn(bound) }, bound, returned))
          })
        database.connection().execute(use).catch(reject)
      }),
  }
}

/** Returns whether a value runs compiled queries: a `Kysely`, or a `Transaction`. */
export function isKyselyExecutor(value: unknown): value is KyselyExecutor {
  return hasMethods(value, 'executeQuery', 'withoutPlugins')
}

/** Returns whether a value is a Kysely, and not one of its transactions. */
export function isKyselyDatabase(value: unknown): value is KyselyDatabase {
  return hasMethods(value, 'connection', 'transaction', 'executeQuery') && !isKysely(value)
}
