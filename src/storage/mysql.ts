import type { ForgeStorage } from './contract/storage.ts'
import type { SqlStorageOptions } from './sql/context.ts'
import { mysqlDialect } from './sql/dialects/mariadb.ts'
import type { MysqlConnection, MysqlPool } from './sql/mysql/mysql-pool.ts'
import { createMysqlStorage } from './sql/mysql/mysql-storage.ts'
import type { SchemaPlanOptions } from './sql/schema/schema.ts'
import { planSchema } from './sql/schema/schema.ts'

export type { SqlStorageOptions } from './sql/context.ts'
export type { IdColumn, IdColumns } from './sql/ids.ts'
export type { MysqlConnection, MysqlPool, MysqlPoolConnection, MysqlQuery } from './sql/mysql/mysql-pool.ts'
export type { SchemaPlanOptions } from './sql/schema/schema.ts'

/**
 * A storage in a MariaDB database, 10.6 or newer (10.7 where ids are kept as `uuid`), for any number of processes. MySQL
 * itself is refused: it cannot give back the rows it writes.
 *
 * Of a URL the storage opens a pool of its own, with the mysql2 beside the application, when it is first used; a pool of
 * the host's is shared, and stays open. Whatever the host has set on its pool for numbers, texts, rows and placeholders, for
 * `sql_mode`, isolation and `autocommit`, the storage reads and writes the same, and changes none of it. Two settings are
 * refused with a `TypeError`, since they lose texts: a `charset` other than `utf8mb4`, and the mode `EMPTY_STRING_IS_NULL`.
 * A connection of the host's pool is checked at each use, which costs a plain read one round trip. A transaction that the host
 * left open on it is rolled back, and the forge's logger reports that once. Source: docs/databases.md
 *
 * Changes of its own run at READ COMMITTED, wait for locks for up to four seconds, and are tried again after a deadlock;
 * each call is answered within five seconds (docs/databases.md, Time limits). In `join`, hand in the connection of
 * `mysql2/promise` on which the host began the transaction. There the server waits for locks as the host has set it
 * (`innodb_lock_wait_timeout`, 50 seconds by default), while a call gives up after five; and it is the host who runs his whole transaction again when a call is
 * `STORAGE_BUSY`: after a deadlock MariaDB has ended it. At READ COMMITTED fewer of them meet than at the default
 * REPEATABLE READ, which locks the gaps between rows too.
 *
 * A committed change is as durable as the server has it; `schemaStatus()` warns where that is less than it could be. Two
 * forges in one database need two prefixes that give no name twice.
 *
 * @param urlOrPool - `mysql://user:password@server/database` (options of mysql2 as parameters: `?connectionLimit=20`), or a
 * pool of `mysql2/promise`
 * @throws TypeError for an option that is none. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`, `SCHEMA_TOO_NEW`,
 * `STORAGE_BUSY` when others were in the way for five seconds, `STORAGE_UNAVAILABLE` when the server is away or none that
 * can be used (its outcome is `unknown` where it was lost while committing); TypeError for an id that does not fit its
 * column, and for a join of what is no open transaction on the same database
 */
export function mysqlStorage<C extends MysqlConnection = MysqlConnection>(
  urlOrPool: string | MysqlPool<C>,
  options: SqlStorageOptions = {},
): ForgeStorage<C> {
  return createMysqlStorage(urlOrPool, options)
}

/**
 * The SQL statements that `migrate()` would run, in order, for those who make tables by hand: each on its own, without the
 * semicolon. All of them can be run again. Needs no connection and no driver.
 *
 * @throws TypeError for an option that is none
 */
export function mysqlSchemaPlan(options: SchemaPlanOptions = {}): readonly string[] {
  return planSchema(mysqlDialect, options)
}
