import type Database from 'better-sqlite3'
import type { Connection } from 'mysql2/promise'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { PgClient } from '../../../src/storage/postgres.ts'
import { Mysql2DatabaseClient } from '../../../src/storage/sql/clients/mysql2.ts'
import { PgDatabaseClient } from '../../../src/storage/sql/clients/pg.ts'
import type { SchemaStorageOptions, SqlContext } from '../../../src/storage/sql/context.ts'
import { createSqlContext } from '../../../src/storage/sql/context.ts'
import type { SqlDialect } from '../../../src/storage/sql/dialect.ts'
import { mysqlDialect } from '../../../src/storage/sql/dialects/mariadb.ts'
import { postgresDialect } from '../../../src/storage/sql/dialects/postgres.ts'
import { sqliteDialect } from '../../../src/storage/sql/dialects/sqlite.ts'
import { limitedTo, MAX_WAIT_MS, retry } from '../../../src/storage/sql/retry.ts'
import { Schema } from '../../../src/storage/sql/schema/schema.ts'
import { ServerDatabase } from '../../../src/storage/sql/server/database.ts'
import type { DatabaseServerParts } from '../../../src/storage/sql/server/database-server.ts'
import { DatabaseServer } from '../../../src/storage/sql/server/database-server.ts'
import { MariadbRules } from '../../../src/storage/sql/server/mariadb-rules.ts'
import { PostgresRules } from '../../../src/storage/sql/server/postgres-rules.ts'
import { ServerRuntime } from '../../../src/storage/sql/server/runtime.ts'
import type { SqlRuntime } from '../../../src/storage/sql/session.ts'
import { execute } from '../../../src/storage/sql/session.ts'
import { databaseFrom } from '../../../src/storage/sql/sqlite/connections.ts'
import { SqliteDatabase } from '../../../src/storage/sql/sqlite/database.ts'
import { GroupCommit } from '../../../src/storage/sql/sqlite/group-commit.ts'
import { HostTransactions } from '../../../src/storage/sql/sqlite/host-transactions.ts'
import { SqliteRuntime } from '../../../src/storage/sql/sqlite/runtime.ts'
import { writeLock } from '../../../src/storage/sql/sqlite/sqlite-storage.ts'
import { createSqlStores } from '../../../src/storage/sql/stores/stores.ts'
import type { MakeMariadb, MakePostgres, MakeSqlite } from '../../databases.ts'
import type { SqlFault } from './sql-fault.ts'

// The storages are put together here as their modules do it, with the fault between the stores and what they run on.

/** Makes SQLite storages with a fault. */
export function faultySqlite(fault: SqlFault): MakeSqlite {
  return (fileOrHandle, options) => {
    const context = faultyContext(sqliteDialect, fault, options)
    const database = new SqliteDatabase<Database.Database>(databaseFrom(fileOrHandle), new Schema(context))
    const batches = new GroupCommit(() => database.connect())
    const hostTransactions = new HostTransactions(database, writeLock(context.prefix))
    const runtime = new SqliteRuntime({ database, batches, hostTransactions })
    const storage: Pick<ForgeStorage<Database.Database>, Life> = {
      transactions: 'synchronous',
      checkTransaction: (transaction) => runtime.checkTransaction(transaction),
      migrate: async () => void (await retry(() => database.migrate(), limitedTo(MAX_WAIT_MS))),
      schemaStatus: async () => retry(() => database.status(), limitedTo(MAX_WAIT_MS)),
      onWarning: () => undefined,
      async close() {
        database.beginClosing()
        await batches.settled()
        database.end()
      },
    }
    return assembled(storage, { fault, context, runtime })
  }
}

/** Makes PostgreSQL storages with a fault. */
export function faultyPostgres<C extends PgClient>(fault: SqlFault): MakePostgres<C> {
  return (urlOrPool, options) => {
    const context = faultyContext(postgresDialect, fault, options)
    const parts = { client: new PgDatabaseClient<C>(urlOrPool), rules: new PostgresRules(context) }
    return overServer(parts, context, fault)
  }
}

/** Makes MariaDB storages with a fault. */
export function faultyMariadb(fault: SqlFault): MakeMariadb {
  return (url, options) => {
    const context = faultyContext(mysqlDialect, fault, options)
    const rules = new MariadbRules(context.ids, { sendsPlainText: false })
    return overServer({ client: new Mysql2DatabaseClient<Connection>(url), rules }, context, fault)
  }
}

function overServer<Tx extends object>(
  parts: DatabaseServerParts<Tx>,
  context: SqlContext,
  fault: SqlFault,
): ForgeStorage<Tx> {
  const server = fault.server?.(parts) ?? new DatabaseServer(parts)
  const database = new ServerDatabase(server, new Schema(context))
  const runtime = new ServerRuntime({ server, database, dialect: context.dialect, queues: fault.queues?.(server) })
  const storage: Pick<ForgeStorage<Tx>, Life> = {
    transactions: 'asynchronous',
    checkTransaction: (transaction) => runtime.checkTransaction(transaction),
    migrate: () => database.during((deadline) => database.migrate(deadline), { total: Number.POSITIVE_INFINITY }),
    schemaStatus: () => database.during((deadline) => database.status(deadline)),
    onWarning: (listener) => server.onWarning(listener),
    close: () => database.close(),
  }
  return assembled(storage, { fault, context, runtime })
}

type Life = 'transactions' | 'checkTransaction' | 'migrate' | 'schemaStatus' | 'onWarning' | 'close'

interface Parts<Tx> {
  readonly fault: SqlFault
  readonly context: SqlContext
  readonly runtime: SqlRuntime<Tx>
}

function assembled<Tx>(
  storage: Pick<ForgeStorage<Tx>, Life>,
  { fault, context, runtime }: Parts<Tx>,
): ForgeStorage<Tx> {
  return {
    ...storage,
    ...createSqlStores(context, fault.runtime?.(runtime, context) ?? runtime),
    async migrate() {
      await storage.migrate()
      for (const statement of fault.afterMigration?.(context) ?? []) {
        await runtime.write((session) => execute(session, statement), {})
      }
    },
  }
}

function faultyContext(dialect: SqlDialect, fault: SqlFault, options: SchemaStorageOptions = {}): SqlContext {
  return createSqlContext(fault.dialect?.(dialect) ?? dialect, fault.options?.(options) ?? options)
}
