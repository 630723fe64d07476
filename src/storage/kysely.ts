import type { ForgeStorage } from './contract/storage.ts'
import type { KyselyDatabase, KyselyTransaction } from './sql/kysely/kysely-database.ts'
import type { KyselyStorageOptions } from './sql/kysely/kysely-storage.ts'
import { createKyselyStorage } from './sql/kysely/kysely-storage.ts'

export type { SchemaStorageOptions, SqlStorageOptions } from './sql/context.ts'
export type { IdColumn, IdColumns } from './sql/ids.ts'
export type {
  BoundKysely,
  IsolationLevel,
  KyselyConnectionBuilder,
  KyselyDatabase,
  KyselyExecutor,
  KyselyQuery,
  KyselyTransaction,
  KyselyTransactionBuilder,
} from './sql/kysely/kysely-database.ts'
export type { KyselyStorageOptions } from './sql/kysely/kysely-storage.ts'
export type { SqlValue } from './sql/query.ts'

/**
 * A storage in the database of a host's Kysely (0.27 to 0.29): PostgreSQL 13 and newer, MariaDB 10.6 and newer, or
 * SQLite. Each change runs in a transaction of that Kysely, which `beforeCommit` receives. `withTransaction` takes a
 * `Transaction` of the host, from `transaction()` or `startTransaction()`, with any plugins and schemas of its own.
 *
 * The storage runs finished SQL texts through the driver that Kysely has. The host's plugins do not see them, but a
 * `log` does, and no dialect other than the one named here is used. The host owns the Kysely: `close()` leaves it open.
 *
 * What a host must know:
 *
 * - Kysely hands out connections. If none is free for five seconds, a call is `STORAGE_BUSY`. Inside a transaction on
 *   the last connection, use `withTransaction`. A connection whose server does not answer is destroyed, but only
 *   beneath Kysely's own dialects for pg and mysql2 (docs/databases.md, Time limits).
 * - With a pool of pg, listen for the errors of the pool and of each client (`pool.on('error', …)`, and
 *   `pool.on('connect', (client) => client.on('error', …))`): otherwise a lost server ends the process, and the storage
 *   cannot listen there.
 * - Kysely has no option for how to read the columns of one query. A driver that returns doubles as anything but
 *   numbers, or columns under other names, is refused with a `TypeError`. So are, on MariaDB, connections that are not
 *   `utf8mb4`, that have `completion_type` set, or that have the mode `NO_BACKSLASH_ESCAPES` or `EMPTY_STRING_IS_NULL`.
 * - In `withTransaction` the storage sets nothing on the host's connection, and the host must run its whole transaction
 *   again if a call is `STORAGE_BUSY`. Before Kysely 0.28 a `Transaction` that has ended can still be used: do not use
 *   it.
 *
 * For SQLite, Kysely has one connection, which the host and the storage share:
 *
 * - A plain call made while a transaction of the host is open waits for its end, at most five seconds; so do reads. For
 *   a busy forge, `sqliteStorage` on the same file is faster, and has its own connections.
 * - Kysely begins transactions without the write lock. The storage takes the lock first in its own transactions, and
 *   immediately in `withTransaction`, so call `withTransaction` before reading: if another process has written since,
 *   the host must run the whole transaction again.
 * - With several processes, open better-sqlite3 with `timeout: 0`; otherwise its waiting (five seconds by default)
 *   blocks the event loop. The storage waits by itself, for five seconds.
 * - A change is as durable as `pragma synchronous` makes it; `schemaStatus()` warns about that setting, and about
 *   `foreign_keys = off`.
 *
 * @param database - a `Kysely` of the host that is not a transaction
 * @throws TypeError if an option is invalid. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`,
 * `SCHEMA_TOO_NEW`, `STORAGE_BUSY` if others held the locks for five seconds, `STORAGE_UNAVAILABLE` if the database is
 * unreachable or unsuitable (its outcome is `unknown` if the database was lost while committing); TypeError if an id
 * does not fit its column, and for a `withTransaction` on anything other than an open transaction of this Kysely
 */
export function kyselyStorage<Tx extends KyselyTransaction>(
  database: KyselyDatabase<Tx>,
  options: KyselyStorageOptions,
): ForgeStorage<Tx> {
  return createKyselyStorage(database, options)
}
