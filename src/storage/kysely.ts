import type { ForgeStorage } from './contract/storage.ts'
import type { HostPortsOf, HostTables } from './sql/host/tables.ts'
import type { KyselyTransaction } from './sql/servers/host-transaction.ts'
import type { KyselyDatabase, KyselyStorageOptions } from './sql/servers/kysely.ts'
import { openKysely } from './sql/servers/kysely.ts'

export type { SchemaStorageOptions, SqlStorageOptions } from './sql/context.ts'
export type { IdColumn } from './sql/dialect.ts'
export type { IdColumns } from './sql/ids.ts'
export type { SqlValue } from './sql/query.ts'
export type { KyselyExecutor, KyselyQuery, KyselyTransaction } from './sql/servers/host-transaction.ts'
export type {
  BoundKysely,
  KyselyDatabase,
  KyselyStorageOptions,
  KyselyTransactionBuilder,
} from './sql/servers/kysely.ts'

/**
 * A storage in the database of a host's Kysely (0.27 to 0.29): PostgreSQL 13 and newer, or MariaDB 10.6 and newer. For
 * SQLite, pass the handle of the host to `sqliteStorage`. Each change runs in a transaction of that Kysely, which
 * `beforeCommit` receives. `withTransaction` takes a `Transaction` of the host, from `transaction()` or
 * `startTransaction()`, with any plugins and schemas of its own; calls on the same object take turns.
 *
 * The storage runs finished SQL texts through the driver that Kysely has. The host's plugins do not see them, but a
 * `log` does. The host owns the Kysely: `close()` leaves it open. `postgresStorage` or `mysqlStorage` with the pool that
 * the host gave to its dialect is faster, and can do more:
 *
 * - Kysely hides its pool. A connection whose server does not answer is not destroyed; the call still ends after five
 *   seconds. Use `withTransaction` inside a transaction on the last connection.
 * - With a pool of pg, listen for the errors of the pool and of each client (`pool.on('error', …)`, and
 *   `pool.on('connect', (client) => client.on('error', …))`): otherwise a lost server ends the process, and the storage
 *   cannot listen there.
 * - The driver must return doubles as numbers, and texts and names unchanged. On MariaDB, connections must be `utf8mb4`,
 *   with `autocommit`, and without the modes `NO_BACKSLASH_ESCAPES` and `EMPTY_STRING_IS_NULL`. This is checked at the
 *   first use, and is a `TypeError` otherwise.
 * - Before Kysely 0.28 a `Transaction` that has ended can still be used: do not use it.
 *
 * @param database - a `Kysely` of the host that is not a transaction
 * @throws TypeError if an option is invalid. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`,
 * `SCHEMA_TOO_NEW`, `STORAGE_BUSY` if others held the locks for five seconds, `STORAGE_UNAVAILABLE` if the database is
 * unreachable or unsuitable (its outcome is `unknown` if the database was lost while committing); TypeError if an id
 * does not fit its column, and for a `withTransaction` on anything other than an open transaction
 */
export function kyselyStorage<Tx extends KyselyTransaction, T extends HostTables>(
  database: KyselyDatabase<Tx>,
  options: KyselyStorageOptions & { readonly tables: T },
): ForgeStorage<Tx> & { readonly host: HostPortsOf<Tx, T> }
/** The same without tables of the host. */
export function kyselyStorage<Tx extends KyselyTransaction>(
  database: KyselyDatabase<Tx>,
  options: KyselyStorageOptions,
): ForgeStorage<Tx>
export function kyselyStorage<Tx extends KyselyTransaction>(
  database: KyselyDatabase<Tx>,
  options: KyselyStorageOptions,
): ForgeStorage<Tx> {
  return openKysely(database, options).storage
}
