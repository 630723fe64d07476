import type { ForgeStorage } from './contract/storage.ts'
import type { SchemaStorageOptions } from './sql/context.ts'
import { postgresDialect } from './sql/dialects/postgres.ts'
import type { PgClient, PgPool } from './sql/postgres/pg-pool.ts'
import { createPostgresStorage } from './sql/postgres/postgres-storage.ts'
import type { SchemaPlanOptions } from './sql/schema/schema.ts'
import { planSchema } from './sql/schema/schema.ts'

export type { SchemaStorageOptions, SqlStorageOptions } from './sql/context.ts'
export type { IdColumn, IdColumns } from './sql/ids.ts'
export type { PgClient, PgPool, PgPoolClient, PgQuery, PgTypes } from './sql/postgres/pg-pool.ts'
export type { SchemaPlanOptions } from './sql/schema/schema.ts'

/**
 * A storage in a PostgreSQL database, on as many processes as wanted; every answered change is durable
 * (`synchronous_commit` on, whatever the role's default). For PostgreSQL 13 and newer.
 *
 * Of a URL, the storage opens a pool of its own: ten connections, `application_name` forgelet, opened when they are needed.
 * Whoever wants another pool hands in his own; that must outlive the storage, and have room: a change keeps one connection
 * from its beginning to its end, and a lock that a long transaction of the host's holds is waited for on connections. Each call
 * is answered within five seconds, whatever it waits for (docs/databases.md, Time limits). `close()` ends what the storage opened and
 * leaves nothing on the host's pool. Tables are made by `migrate()` alone.
 *
 * Changes run at READ COMMITTED in transactions of their own and are tried again after deadlocks and the like, for up to
 * five seconds. `join` takes a client on which the host has begun a transaction, at READ COMMITTED or REPEATABLE READ, on
 * the same database and with a `search_path` that leads to the same tables; a pool is none. A failed change there is
 * rolled back to its savepoint and the rest stays; `STORAGE_BUSY` with `retry: 'host-transaction'` asks for the whole to be
 * rolled back and run again, as REPEATABLE READ does where another change came first.
 *
 * What a host must know of its `beforeCommit`: it gets the client that the change is made on, and may be called again for
 * another attempt. It leaves the transaction open and sound: one that it ended, or in which a statement failed and the
 * error was kept, is a `TypeError`, and so is a change of the forge on that client. A change on another connection would
 * wait for this one. A storage that reads meanwhile needs a second connection.
 *
 * A transaction that the host left open on a client of its pool is rolled back before the storage uses the client; the forge's
 * logger reports it once. Source: docs/databases.md, When something is in the way
 *
 * A lost server does not end the process: `error` events of the storage's pool, of the host's and of clients at work are
 * heard. The host's parsers (`pg.types.setTypeParser`) have no effect on the storage. Statements are prepared under names
 * that are the same in every process, except in the host's transactions; where something between (PgBouncer before 1.21,
 * say) does not keep them, the storage notices and goes on without.
 *
 * Two forges in one database need two schemas, or two prefixes that give no name twice: `x_` and `x_board_` would
 * (`x_board_pins`), and the second is not migrated.
 *
 * @param urlOrPool - `postgres://…` (opened with the pg beside the application), or a `Pool` of pg
 * @throws TypeError for an option that is none. Every call: ForgeError `SCHEMA_OUTDATED` before `migrate()`,
 * `SCHEMA_TOO_NEW`, `STORAGE_BUSY`, `STORAGE_UNAVAILABLE` (its outcome is `unknown` where the server was lost while a change
 * was being committed); TypeError for an id that does not fit its column
 */
export function postgresStorage<C extends PgClient = PgClient>(
  urlOrPool: string | PgPool,
  options: SchemaStorageOptions = {},
): ForgeStorage<C> {
  return createPostgresStorage(urlOrPool, options)
}

/**
 * The SQL statements that `migrate()` would run, in order, for those who make tables by hand: each on its own, without the
 * semicolon; an index that is made `concurrently` must not be inside a transaction.
 * Needs no connection and no driver.
 *
 * @throws TypeError for an option that is none
 */
export function postgresSchemaPlan(options: SchemaPlanOptions & SchemaStorageOptions = {}): readonly string[] {
  return planSchema(postgresDialect, options)
}
