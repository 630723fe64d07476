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
 * A storage in the database of a host's Kysely (0.27 to 0.29): PostgreSQL 13 and newer, MariaDB 10.6 and newer, or SQLite.
 * Each change runs in a transaction of that Kysely, which `beforeCommit` gets; `join` takes a `Transaction` of the host's,
 * from `transaction()` or `startTransaction()`, with any plugins and schemas of its own.
 *
 * Our statements are texts that are ready, run through the driver that Kysely has: no plugin of the host's sees them, a
 * `log` does, and no dialect but the one that is named here is asked. The Kysely stays the host's: `close()` leaves it open.
 *
 * What a host must know:
 *
 * - Kysely hands out connections; when none is free for five seconds, a call is `STORAGE_BUSY`. Inside a transaction on the
 *   last one, join it. A connection whose server does not answer is destroyed, but only beneath Kysely's own dialects for
 *   pg and mysql2 (docs/databases.md, Time limits).
 * - With a pool of pg, hear the errors of the pool and of each client (`pool.on('error', …)`, and `pool.on('connect',
 *   (client) => client.on('error', …))`): a server that is lost ends the process otherwise, and we cannot hear them there.
 * - Kysely takes no word on how to read the columns of one query. A driver that gives doubles as anything but numbers, or
 *   columns under other names, is refused with a `TypeError`. So are, on MariaDB, connections that are not `utf8mb4`, that
 *   have `completion_type` set, or the modes `NO_BACKSLASH_ESCAPES` and `EMPTY_STRING_IS_NULL`.
 * - In `join` nothing is set on the host's connection, and it is the host who runs his whole transaction again when a call
 *   is `STORAGE_BUSY`. Before Kysely 0.28 a `Transaction` that has ended can be used on, by anyone: do not.
 *
 * Of SQLite Kysely has one connection, for the host and for us:
 *
 * - Whatever is called plainly while a transaction of the host's is open waits for its end, at most five seconds; so do reads.
 *   For a forge that is busy, `sqliteStorage` on the same file is quicker, and has connections of its own.
 * - Kysely begins transactions without the write lock. The storage takes it first in its own, and in a join at once, so join
 *   before reading: where another process wrote since, the whole transaction must be run again.
 * - Several processes: open better-sqlite3 with `timeout: 0`, or its waiting (five seconds by default) puts the event loop to
 *   sleep. The storage waits by itself, for five seconds.
 * - A change is as durable as `pragma synchronous` has it; `schemaStatus()` warns of that, and of `foreign_keys = off`.
 *
 * @param database - a `Kysely` of the host's that is no transaction
 * @throws TypeError for an option that is none. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`, `SCHEMA_TOO_NEW`,
 * `STORAGE_BUSY` when others were in the way for five seconds, `STORAGE_UNAVAILABLE` when the database is away or none that
 * can be used (its outcome is `unknown` where it was lost while committing); TypeError for an id that does not fit its
 * column, and for a join of what is no open transaction of this Kysely
 */
export function kyselyStorage<Tx extends KyselyTransaction>(
  database: KyselyDatabase<Tx>,
  options: KyselyStorageOptions,
): ForgeStorage<Tx> {
  return createKyselyStorage(database, options)
}
