import { need } from '../../../schema/arguments.ts'
import { FUNCTION } from '../../../schema/options.ts'
import type { SchemaStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from '../context.ts'
import type { SqlStorage } from '../database.ts'
import { command } from '../dialect.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import type { KyselyDatabase } from './clients/kysely.ts'
import { isKyselyDatabase, isKyselyExecutor, kyselyClient, runnerOfKysely } from './clients/kysely.ts'
import type { PgClient, PgPool, PgPoolClient } from './clients/pg.ts'
import { isPgPool, pgClient, runnerOfPg } from './clients/pg.ts'
import type { PostgresJs } from './clients/postgres-js.ts'
import { isPostgresJs, postgresJsClient } from './clients/postgres-js.ts'
import type { HostTransaction, KyselyExecutor, LibraryOf } from './host-transaction.ts'
import { isHostTransaction, runnerIn } from './host-transaction.ts'
import type { Beginning, TransactionOptions } from './in-transaction.ts'
import { isolationIn } from './in-transaction.ts'
import { postgresRules } from './postgres-rules.ts'
import type { Client } from './server.ts'
import { createServerStorage } from './server-storage.ts'
import { WrappedTransactions } from './wrapped-transactions.ts'

/** What a storage in PostgreSQL takes its connections from, beside a URL. */
export type PostgresSource = PgPool | PostgresJs | KyselyDatabase

/** The options of a storage in PostgreSQL. `C` is the type of its transactions. */
export interface PostgresStorageOptions<C> extends SchemaStorageOptions {
  /**
   * Makes a transaction of the host's library of the client of pg on which the storage makes a change, for ports and `beforeCommit`
   * outside of `withTransaction`: over HTTP too. They receive a `HostTransaction` with it as `identity`. Called for each change, after its connection was taken.
   * `(client) => drizzle(client)` is one. Default: they receive the client itself.
   */
  transaction?(client: PgPoolClient): LibraryOf<C>
}

/** Creates a storage in a PostgreSQL database. @throws TypeError if the URL, the pool or an option is invalid */
export function openPostgres<C extends PgClient | KyselyExecutor | HostTransaction>(
  source: string | PostgresSource,
  { transaction, ...options }: PostgresStorageOptions<C>,
): SqlStorage<C> {
  checkStorageOptions('postgresStorage', options, SCHEMA_OPTIONS)
  need(FUNCTION[0](transaction), 'postgresStorage', 'transaction', FUNCTION[1])
  const wrapped = new WrappedTransactions(transaction)
  const server = {
    ...postgresRules,
    first: [],
    client: clientOf(source, wrapped),
    ofHost(given: object) {
      const open = wrapped.unwrap(given)
      if (isHostTransaction(open)) return runnerIn(open)
      return isKyselyExecutor(open) ? runnerOfKysely(open) : runnerOfPg(open)
    },
  }
  return createServerStorage(server, createSqlContext(postgresDialect, options))
}

function clientOf(source: string | PostgresSource, wrapped: WrappedTransactions<PgPoolClient>): Client {
  if (typeof source === 'string') refuseOtherUrls(source)
  if (typeof source === 'string' || isPgPool(source)) return pgClient(source, wrapped)
  wrapped.refuse('postgresStorage', 'a pool of pg')
  if (isPostgresJs(source)) return postgresJsClient(source)
  if (isKyselyDatabase(source)) return kyselyClient(source)
  throw new TypeError('a PostgreSQL storage needs a URL, a pool of pg, a postgres() of postgres.js, or a Kysely')
}

/** The messages do not show the URL, which may contain a password. */
function refuseOtherUrls(url: string): void {
  if (!/^(postgres|postgresql|socket):/.test(url)) {
    throw new TypeError('the URL of a PostgreSQL database begins with postgres://')
  }
  const [, authority = ''] = /^[a-z]+:\/\/([^/?#]*)/.exec(url) ?? []
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',') || /[?&]host=[^&#]*(,|%2c)/i.test(url)) {
    throw new TypeError('the URL of a PostgreSQL database has one host: put a proxy before several, and name that')
  }
}

/** Returns how transactions begin on a pool of the host. @throws TypeError if an argument is invalid */
export function beginOnPg(pool: PgPool, options: TransactionOptions): Beginning {
  need(isPgPool(pool), 'inTransaction', 'pool', 'a pool of pg')
  const begin = [command(`begin isolation level ${isolationIn(options)} read write`)]
  return { begin, client: pgClient(pool, new WrappedTransactions(undefined)), commit: postgresRules.commit }
}
