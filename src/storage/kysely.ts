import type { ForgeStorage } from './contract/storage.ts'
import { KyselyDatabaseClient } from './sql/clients/kysely.ts'
import type { KyselyDatabase, KyselyTransaction } from './sql/clients/kysely-database.ts'
import { isKyselyDatabase } from './sql/clients/kysely-database.ts'
import type { SchemaStorageOptions, SqlContext } from './sql/context.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from './sql/context.ts'
import type { SqlDialect } from './sql/dialect.ts'
import { mysqlDialect } from './sql/dialects/mariadb.ts'
import { postgresDialect } from './sql/dialects/postgres.ts'
import { sqliteDialect } from './sql/dialects/sqlite.ts'
import { MariadbRules } from './sql/server/mariadb-rules.ts'
import { PostgresRules } from './sql/server/postgres-rules.ts'
import type { DatabaseRules } from './sql/server/rules.ts'
import { createServerStorage } from './sql/server/runtime.ts'
import { SqliteRules } from './sql/server/sqlite-rules.ts'

export type {
  BoundKysely,
  KyselyConnectionBuilder,
  KyselyDatabase,
  KyselyExecutor,
  KyselyQuery,
  KyselyTransaction,
  KyselyTransactionBuilder,
} from './sql/clients/kysely-database.ts'
export type { SchemaStorageOptions, SqlStorageOptions } from './sql/context.ts'
export type { IdColumn } from './sql/dialect.ts'
export type { IdColumns } from './sql/ids.ts'
export type { SqlValue } from './sql/query.ts'
export type { IsolationLevel } from './sql/server/client.ts'

/** The options of a storage on a Kysely. */
export interface KyselyStorageOptions extends SchemaStorageOptions {
  /** The database behind the Kysely: `postgres` (13 and newer), `mysql` (MariaDB, 10.6 and newer) or `sqlite`. */
  readonly dialect: 'postgres' | 'mysql' | 'sqlite'
  /**
   * PostgreSQL only: the schema of every table, view and index; `migrate()` creates it if it does not exist. Letters,
   * digits and `_`. Default: the first of the connection's `search_path`.
   */
  readonly schema?: string | undefined
}

const DIALECTS = 'postgres, mysql or sqlite'

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
  if (!isKyselyDatabase(database)) throw new TypeError('kyselyStorage needs a Kysely that is not a transaction')
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`kyselyStorage needs { dialect }: ${DIALECTS}`)

  checkStorageOptions('kyselyStorage', options, { dialect: true, ...SCHEMA_OPTIONS })
  const { dialect: name, ...others } = options
  const { dialect, rulesOf } = kindOf(name)
  if (others.schema !== undefined && name !== 'postgres') throw new TypeError('only PostgreSQL has schemas')

  const context = createSqlContext(dialect, others)
  const parts = { client: new KyselyDatabaseClient(database, context), rules: rulesOf(context) }
  return createServerStorage(parts, context).storage
}

/** A kind of database. */
interface DatabaseKind {
  readonly dialect: SqlDialect
  readonly rulesOf: (context: SqlContext) => DatabaseRules
}

function kindOf(name: KyselyStorageOptions['dialect']): DatabaseKind {
  switch (name) {
    case 'postgres':
      return { dialect: postgresDialect, rulesOf: (context) => new PostgresRules(context) }
    case 'mysql':
      return { dialect: mysqlDialect, rulesOf: ({ ids }) => new MariadbRules(ids, { sendsPlainText: true }) }
    case 'sqlite':
      return { dialect: sqliteDialect, rulesOf: ({ prefix }) => new SqliteRules(prefix) }
    default:
      throw new TypeError(`dialect must be ${DIALECTS}, not ${JSON.stringify(name satisfies never)}`)
  }
}
