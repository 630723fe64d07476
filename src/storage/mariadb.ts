import { need } from '../schema/arguments.ts'
import { FUNCTION } from '../schema/options.ts'
import type { SqlStorageOptions } from './sql/context.ts'
import { checkStorageOptions, createSqlContext, SQL_OPTIONS } from './sql/context.ts'
import type { SqlStorage } from './sql/database.ts'
import { command } from './sql/dialect.ts'
import { mariadbDialect } from './sql/dialects/mariadb.ts'
import type { HostPortsOf, HostTables } from './sql/host/tables.ts'
import { planSchema } from './sql/schema/schema.ts'
import type { KyselyDatabase } from './sql/servers/clients/kysely.ts'
import { isKyselyDatabase, kyselyClient } from './sql/servers/clients/kysely.ts'
import type { MariadbPool } from './sql/servers/clients/mariadb.ts'
import { isMariadbPool, mariadbClient } from './sql/servers/clients/mariadb.ts'
import type { MysqlConnection, MysqlPool, MysqlPoolConnection } from './sql/servers/clients/mysql2.ts'
import { isMysqlPool, mysql2Client, runnerOfMysql2 } from './sql/servers/clients/mysql2.ts'
import type { Transactional, TransactionOptions } from './sql/servers/in-transaction.ts'
import { isolationIn, repeatTransaction } from './sql/servers/in-transaction.ts'
import type { HostTransaction, KyselyExecutor, LibraryOf } from './sql/servers/libraries.ts'
import { mariadbRules, START } from './sql/servers/mariadb-rules.ts'
import type { Client } from './sql/servers/server.ts'
import { createServerStorage } from './sql/servers/server-storage.ts'
import { WrappedTransactions } from './sql/servers/wrapped-transactions.ts'

export type { SqlStorageOptions } from './sql/context.ts'
export type { IdColumn } from './sql/dialect.ts'
export type { IdColumns } from './sql/ids.ts'
export type { KyselyDatabase } from './sql/servers/clients/kysely.ts'
export type { MariadbConnection, MariadbPool } from './sql/servers/clients/mariadb.ts'
export type {
  MysqlConnection,
  MysqlPool,
  MysqlPoolConnection,
  MysqlQuery,
} from './sql/servers/clients/mysql2.ts'
export type { Isolation, Transactional, TransactionOptions, WorkInTransaction } from './sql/servers/in-transaction.ts'
export type { HostTransaction, KyselyExecutor, LibraryOf } from './sql/servers/libraries.ts'

/** What a storage in MariaDB takes its connections from, beside a URL. */
export type MariadbSource = MysqlPool | MariadbPool | KyselyDatabase

/** The options of a storage in MariaDB. `C` is the type of its transactions. */
export interface MariadbStorageOptions<C> extends SqlStorageOptions {
  /**
   * Makes a transaction of the host's library of the connection of mysql2 on which the storage makes a change, as in
   * `PostgresStorageOptions`: `(connection) => drizzle(connection)` is one. Default: they receive the connection itself.
   */
  transaction?(connection: MysqlPoolConnection): LibraryOf<C>
}

/**
 * A storage in a MariaDB database, 10.6 or newer (10.7 if ids are stored as `uuid`), for any number of processes. MySQL
 * itself is refused: it cannot return the rows it writes.
 *
 * For a URL, the storage opens its own pool on first use, with the mysql2 installed beside the application: ten
 * connections, or as many as `?connectionLimit=` in the URL states. A pool of the host is shared and stays open. The storage
 * reads and writes the same whatever the host has set on its pool for numbers, texts, rows and placeholders, for isolation and
 * `autocommit`, and it changes none of these settings. Three settings are refused with a `TypeError`: a `charset` other than
 * `utf8mb4`, which loses text, the mode `NO_BACKSLASH_ESCAPES`, in which a text could end a statement of a library, and the
 * mode `EMPTY_STRING_IS_NULL`. This is checked at the first use. If the host left a transaction open on a connection
 * of its pool, the storage rolls it back: each use of such a pool begins with ROLLBACK.
 * Source: docs/databases.md
 *
 * The storage's own changes run at READ COMMITTED, wait for locks for up to four seconds, and are retried after a
 * deadlock. Each call returns within five seconds (docs/databases.md, Time limits). For `withTransaction`, pass the
 * connection of `mysql2/promise` on which the host began the transaction, or a `HostTransaction` of any library. There the
 * server waits for locks as the host has set it (`innodb_lock_wait_timeout`, 50 seconds by default), while a call gives up after five seconds. The host
 * must run its whole transaction again if a call is `STORAGE_BUSY`: after a deadlock MariaDB has ended the transaction.
 * At READ COMMITTED fewer transactions conflict than at the default REPEATABLE READ, which also locks the gaps between
 * rows.
 *
 * The type of transactions is what `withTransaction` takes and `beforeCommit` receives: name it if the host uses only one
 * (`mariadbStorage<PoolConnection>(pool)`).
 *
 * A committed change is as durable as the server's settings make it; `schemaStatus()` warns if they could be safer. Two
 * forges in one database need two prefixes that never produce the same name.
 *
 * @param source - `mysql://user:password@server/database` (options of mysql2 as parameters: `?connectionLimit=20`),
 * or what the host has: a pool of `mysql2/promise` or of npm `mariadb`, or a `Kysely` (0.27 to 0.29)
 * @throws TypeError if an option is invalid. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`,
 * `SCHEMA_TOO_NEW`, `STORAGE_BUSY` if others held the locks for five seconds, `STORAGE_UNAVAILABLE` if the server is
 * unreachable or unsuitable (its outcome is `unknown` if the server was lost while committing); TypeError if an id does
 * not fit its column, and for a `withTransaction` on a connection without an open transaction on the same database
 */
export function mariadbStorage<C extends MysqlConnection | HostTransaction, T extends HostTables>(
  source: string | Exclude<MariadbSource, KyselyDatabase>,
  options: MariadbStorageOptions<C> & { readonly tables: T },
): SqlStorage<C> & { readonly host: HostPortsOf<C, T> }
/** The same over a Kysely, whose transactions `withTransaction` takes as they are. */
export function mariadbStorage<K extends KyselyExecutor, T extends HostTables>(
  source: KyselyDatabase<K>,
  options: SqlStorageOptions & { readonly tables: T },
): SqlStorage<K> & { readonly host: HostPortsOf<K, T> }
/** The same without tables of the host. */
export function mariadbStorage<K extends KyselyExecutor>(
  source: KyselyDatabase<K>,
  options?: SqlStorageOptions,
): SqlStorage<K>
/** The same without tables of the host. */
export function mariadbStorage<C extends MysqlConnection | HostTransaction = MysqlConnection | HostTransaction>(
  source: string | Exclude<MariadbSource, KyselyDatabase>,
  options?: MariadbStorageOptions<C>,
): SqlStorage<C>
export function mariadbStorage<C extends MysqlConnection | KyselyExecutor | HostTransaction>(
  source: string | MariadbSource,
  { transaction, ...options }: MariadbStorageOptions<C> = {},
): SqlStorage<C> {
  checkStorageOptions('mariadbStorage', options, SQL_OPTIONS)
  need(FUNCTION[0](transaction), 'mariadbStorage', 'transaction', FUNCTION[1])
  const wrapped = new WrappedTransactions(transaction)
  const server = {
    ...mariadbRules,
    client: clientOf(source, wrapped),
    ...(typeof source === 'string'
      ? { first: [], begin: () => [START] } // its connections have their level
      : { first: [ROLL_BACK] }),
    wrapped,
    runnerOf: runnerOfMysql2,
  }
  return createServerStorage(server, createSqlContext(mariadbDialect, options))
}

function clientOf(source: string | MariadbSource, wrapped: WrappedTransactions<MysqlPoolConnection>): Client {
  if (typeof source === 'string') refuseOtherUrls(source)
  if (typeof source === 'string' || isMysqlPool(source)) return mysql2Client(source, wrapped)
  wrapped.refuse('mariadbStorage', 'a pool of mysql2')
  if (isMariadbPool(source)) return mariadbClient(source)
  if (isKyselyDatabase(source)) return kyselyClient(source)
  throw new TypeError('a MariaDB storage needs a URL, a pool of mysql2/promise or of npm mariadb, or a Kysely')
}

/** The message does not show the URL, which may contain a password. */
function refuseOtherUrls(url: string): void {
  if (!/^(mysql|mariadb):\/\/./.test(url) || !URL.canParse(url)) {
    throw new TypeError('the URL of a MariaDB database begins with mysql:// or mariadb://')
  }
  if (new URL(url).pathname.length < 2) throw new TypeError('the URL must name a database: mysql://server/database')
}

const ROLL_BACK = command('rollback')

/**
 * Runs `work` in a transaction on a connection of the host's pool, with the services of a forge and the connection, and
 * commits it. If the database aborts the transaction in favour of another, at a call of the forge, at a statement of `work`
 * or at COMMIT, all of it runs again, ten times at most. The listeners of the forge are notified behind the COMMIT. If `work`
 * fails, the transaction is rolled back. The connection returns to its pool; one whose server does not answer is destroyed.
 *
 * ```ts
 * const pinned = await inTransaction(forge, pool, async ({ pins }, connection) => {
 *   const [{ insertId }] = await connection.query('insert into issue (title) values (?)', [title])
 *   return pins.pin(actor, { id: insertId, repositoryId: 1, kind: 'issue' })
 * })
 * ```
 *
 * @param forge - over a storage in the same database; its own pool may be another
 * @param work - may run several times: what it does elsewhere is not undone
 * @throws any error of `work`; ForgeError `STORAGE_BUSY` with `retry: 'host-transaction'` if ten transactions were
 * aborted, `STORAGE_UNAVAILABLE` if there is no connection, or if it was lost (its outcome is `unknown` if it was lost
 * while committing); TypeError if an argument is invalid, or if `work` caught the error of a deadlock: not all is committed then
 */
export async function inTransaction<T, S, C extends MysqlPoolConnection>(
  forge: Transactional<C, S>,
  pool: MysqlPool & { getConnection(): Promise<C> },
  work: (services: S, connection: C) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  need(isMysqlPool(pool), 'inTransaction', 'pool', 'a pool of mysql2/promise')
  const level = command(`set transaction isolation level ${isolationIn(options)}`)
  const client = mysql2Client(pool, new WrappedTransactions(undefined))
  return repeatTransaction({ begin: [ROLL_BACK, level, START], client, commit: mariadbRules.commit }, forge, work)
}

/**
 * Returns the SQL statements that `migrate()` would run, in order, for administrators who create tables by hand. Each
 * statement is separate and has no semicolon. All of them can be run again. Needs no connection and no driver.
 *
 * @throws TypeError if an option is invalid
 */
export function mariadbSchemaPlan(options: SqlStorageOptions = {}): readonly string[] {
  return planSchema('mariadbSchemaPlan', mariadbDialect, options, SQL_OPTIONS)
}
