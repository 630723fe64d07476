import { need } from '../schema/arguments.ts'
import { FUNCTION } from '../schema/options.ts'
import type { SchemaStorageOptions } from './sql/context.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from './sql/context.ts'
import type { SqlStorage } from './sql/database.ts'
import { command } from './sql/dialect.ts'
import { postgresDialect } from './sql/dialects/postgres.ts'
import type { HostPortsOf, HostTables } from './sql/host/tables.ts'
import { planSchema } from './sql/schema/schema.ts'
import type { KyselyDatabase } from './sql/servers/clients/kysely.ts'
import { isKyselyDatabase, kyselyClient } from './sql/servers/clients/kysely.ts'
import type { PgClient, PgPool, PgPoolClient } from './sql/servers/clients/pg.ts'
import { isPgPool, pgClient, runnerOfPg } from './sql/servers/clients/pg.ts'
import type { PostgresJs } from './sql/servers/clients/postgres-js.ts'
import { isPostgresJs, postgresJsClient } from './sql/servers/clients/postgres-js.ts'
import type { Transactional, TransactionOptions } from './sql/servers/in-transaction.ts'
import { isolationIn, repeatTransaction } from './sql/servers/in-transaction.ts'
import type { HostTransaction, KyselyExecutor, LibraryOf } from './sql/servers/libraries.ts'
import { postgresRules } from './sql/servers/postgres-rules.ts'
import type { Client } from './sql/servers/server.ts'
import { createServerStorage } from './sql/servers/server-storage.ts'
import { WrappedTransactions } from './sql/servers/wrapped-transactions.ts'

export type { SchemaStorageOptions, SqlStorageOptions } from './sql/context.ts'
export type { IdColumn } from './sql/dialect.ts'
export type { IdColumns } from './sql/ids.ts'
export type { KyselyDatabase } from './sql/servers/clients/kysely.ts'
export type { PgAnswer, PgClient, PgPool, PgPoolClient, PgQuery, PgTypes } from './sql/servers/clients/pg.ts'
export type { PostgresJs, PostgresJsConnection } from './sql/servers/clients/postgres-js.ts'
export type { Isolation, Transactional, TransactionOptions, WorkInTransaction } from './sql/servers/in-transaction.ts'
export type { HostTransaction, KyselyExecutor, LibraryOf } from './sql/servers/libraries.ts'

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

/**
 * A storage in a PostgreSQL database, for any number of processes. Every acknowledged change is durable
 * (`synchronous_commit` is on, whatever the default of the role). For PostgreSQL 13 and newer.
 *
 * For a URL, the storage opens its own pool: ten connections, or as many as `?max=` in the URL states, with the
 * `application_name` forgelet, opened when they are needed. To use another pool, pass it in. That pool must outlive the
 * storage and have spare connections: a change holds one connection from its beginning to its end, and calls that wait for a lock held by a long transaction of the host wait
 * on connections. Each call returns within five seconds, whatever it waits for (docs/databases.md, Time limits).
 * `close()` ends what the storage opened. Only `migrate()` creates tables.
 *
 * Changes run at READ COMMITTED in their own transactions, and are retried after deadlocks and similar failures for up
 * to five seconds. `withTransaction` takes a client on which the host has begun a transaction, at READ COMMITTED or
 * REPEATABLE READ, on the same database and with a `search_path` that leads to the same tables; or a `HostTransaction` of
 * any library. It does not accept a pool. A failed change there is rolled back to its savepoint and the rest of the
 * transaction stays. `STORAGE_BUSY` with `retry: 'host-transaction'` means that the host must roll the whole transaction back and run it again, as with
 * REPEATABLE READ when another change came first.
 *
 * The `beforeCommit` of the host receives the client that the change is made on, and may be called again for another
 * attempt. It must leave the transaction open and usable: a transaction that it ended, or in which a statement failed
 * and the error was swallowed, is a `TypeError`, and so is a change of the forge on that client. A change on another
 * connection would wait for this one. A storage that reads during `beforeCommit` needs a second connection.
 *
 * If the host left a transaction open on a client of its pool, the storage has it rolled back and uses another client. Kysely and
 * postgres.js hide what could be destroyed: a connection whose server does not answer is rolled back once it does.
 *
 * The type of transactions is what `withTransaction` takes and `beforeCommit` receives: name it if the host uses only one
 * (`postgresStorage<PoolClient>(pool)`).
 *
 * A lost server does not end the process: the storage listens for `error` events of its own pool, of the host's pool
 * and of the clients that it uses, and leaves these listeners there. On a client that is pipelining, as those of its own pool
 * are, a `beforeCommit` cannot use cursors and streams of pg. The host's parsers (`pg.types.setTypeParser`) have no effect on the storage. A pool with
 * `binary: true`, with `extra_float_digits` below 0 or of pg-native is a `TypeError` at the first use. Statements are
 * prepared under names that are the same in every process, except in the host's transactions. If a proxy does not keep
 * them (PgBouncer before 1.21, for example), the storage notices and continues without prepared statements.
 *
 * Two forges in one database need two schemas, or two prefixes that never produce the same name: `x_` and `x_board_`
 * would (`x_board_pins`), and the second is not migrated.
 *
 * @param source - `postgres://…` (opened with the pg installed beside the application), or what the host has: a `Pool` of pg,
 * the `sql` of postgres.js, or a `Kysely` (0.27 to 0.29)
 * @throws TypeError if an option is invalid. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`,
 * `SCHEMA_TOO_NEW`, `STORAGE_BUSY`, `STORAGE_UNAVAILABLE` (its outcome is `unknown` if the server was lost while a
 * change was being committed); TypeError if an id does not fit its column
 */
export function postgresStorage<C extends PgClient | HostTransaction, T extends HostTables>(
  source: string | Exclude<PostgresSource, KyselyDatabase>,
  options: PostgresStorageOptions<C> & { readonly tables: T },
): SqlStorage<C> & { readonly host: HostPortsOf<C, T> }
/** The same over a Kysely, whose transactions `withTransaction` takes as they are. */
export function postgresStorage<K extends KyselyExecutor, T extends HostTables>(
  source: KyselyDatabase<K>,
  options: SchemaStorageOptions & { readonly tables: T },
): SqlStorage<K> & { readonly host: HostPortsOf<K, T> }
/** The same without tables of the host. */
export function postgresStorage<K extends KyselyExecutor>(
  source: KyselyDatabase<K>,
  options?: SchemaStorageOptions,
): SqlStorage<K>
/** The same without tables of the host. */
export function postgresStorage<C extends PgClient | HostTransaction = PgClient | HostTransaction>(
  source: string | Exclude<PostgresSource, KyselyDatabase>,
  options?: PostgresStorageOptions<C>,
): SqlStorage<C>
export function postgresStorage<C extends PgClient | KyselyExecutor | HostTransaction>(
  source: string | PostgresSource,
  { transaction, ...options }: PostgresStorageOptions<C> = {},
): SqlStorage<C> {
  checkStorageOptions('postgresStorage', options, SCHEMA_OPTIONS)
  need(FUNCTION[0](transaction), 'postgresStorage', 'transaction', FUNCTION[1])
  const wrapped = new WrappedTransactions(transaction)
  const server = { ...postgresRules, first: [], client: clientOf(source, wrapped), wrapped, runnerOf: runnerOfPg }
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

/** The client that a pool of pg provides. Its type of `connect` also has a form with a callback. */
export type PgClientOf<P extends PgPool> = P['connect'] extends {
  (): Promise<infer C extends PgPoolClient>
  (...given: never[]): unknown
}
  ? C
  : Awaited<ReturnType<P['connect']>>

/**
 * Runs `work` in a transaction on a client of the host's pool, with the services of a forge and the client, and commits it.
 * If the database aborts the transaction in favour of another, at a call of the forge, at a statement of `work` or at COMMIT,
 * all of it runs again, ten times at most. The listeners of the forge are notified behind the COMMIT. If `work` fails, the
 * transaction is rolled back. The client returns to its pool; one whose server does not answer is destroyed.
 *
 * ```ts
 * const pinned = await inTransaction(forge, pool, async ({ pins }, client) => {
 *   const { rows } = await client.query('insert into issue (title) values ($1) returning id', [title])
 *   return pins.pin(actor, { id: rows[0].id, repositoryId: 1, kind: 'issue' })
 * })
 * ```
 *
 * @param forge - over a storage in the same database; its own pool may be another
 * @param work - may run several times: what it does elsewhere is not undone
 * @throws any error of `work`; ForgeError `STORAGE_BUSY` with `retry: 'host-transaction'` if ten transactions were
 * aborted, `STORAGE_UNAVAILABLE` if there is no connection, or if it was lost (its outcome is `unknown` if it was lost
 * while committing); TypeError if an argument is invalid, or if `work` caught the error of a failed statement
 */
export async function inTransaction<T, S, P extends PgPool>(
  forge: Transactional<PgClientOf<P>, S>,
  pool: P,
  work: (services: S, client: PgClientOf<P>) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  need(isPgPool(pool), 'inTransaction', 'pool', 'a pool of pg')
  const begin = [command(`begin isolation level ${isolationIn(options)} read write`)]
  const client = pgClient(pool, new WrappedTransactions(undefined))
  return repeatTransaction({ begin, client, commit: postgresRules.commit }, forge, work)
}

/**
 * Returns the SQL statements that `migrate()` would run, in order, for administrators who create tables by hand. Each
 * statement is separate and has no semicolon. A statement that creates an index `concurrently` must not run inside a
 * transaction. Needs no connection and no driver.
 *
 * @throws TypeError if an option is invalid
 */
export function postgresSchemaPlan(options: SchemaStorageOptions = {}): readonly string[] {
  return planSchema('postgresSchemaPlan', postgresDialect, options, SCHEMA_OPTIONS)
}
