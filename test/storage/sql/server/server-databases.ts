import { randomBytes } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import { mysqlSchemaPlan, mysqlStorage } from '../../../../src/storage/mysql.ts'
import type { SchemaPlanOptions, SchemaStorageOptions } from '../../../../src/storage/postgres.ts'
import { postgresSchemaPlan, postgresStorage } from '../../../../src/storage/postgres.ts'
import { Mysql2DatabaseClient } from '../../../../src/storage/sql/clients/mysql2.ts'
import { PgDatabaseClient } from '../../../../src/storage/sql/clients/pg.ts'
import { createSqlContext } from '../../../../src/storage/sql/context.ts'
import type { SqlDialect } from '../../../../src/storage/sql/dialect.ts'
import { mysqlDialect } from '../../../../src/storage/sql/dialects/mariadb.ts'
import { postgresDialect } from '../../../../src/storage/sql/dialects/postgres.ts'
import { Schema } from '../../../../src/storage/sql/schema/schema.ts'
import { CallDeadline } from '../../../../src/storage/sql/server/call-deadline.ts'
import { DatabaseServer } from '../../../../src/storage/sql/server/database-server.ts'
import { MariadbRules } from '../../../../src/storage/sql/server/mariadb-rules.ts'
import type { MigrationLimits } from '../../../../src/storage/sql/server/migrate.ts'
import { migrateServer } from '../../../../src/storage/sql/server/migrate.ts'
import { PostgresRules } from '../../../../src/storage/sql/server/postgres-rules.ts'
import type { TestServer } from '../../databases/servers.ts'
import { SERVERS } from '../../databases/servers.ts'

/** A connection of the host: statements one after the other. */
export interface HostConnection {
  run(sql: string): Promise<readonly Record<string, unknown>[]>
  end(): Promise<void>
}

/** How the tests of schemas use one kind of server. */
export interface ServerKind {
  readonly server: TestServer
  readonly dialect: SqlDialect
  connect(url: string): Promise<HostConnection>
  storage(url: string, options?: SchemaStorageOptions): ForgeStorage
  plan(options?: SchemaPlanOptions): readonly string[]
  /** Migrates the way a storage does, with another patience. */
  migrate(url: string, patience: MigrationLimits): Promise<void>
}

/** PostgreSQL. */
export const POSTGRES: ServerKind = {
  server: SERVERS.postgres,
  dialect: postgresDialect,
  async connect(url) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    return {
      run: async (sql) => (await client.query(sql)).rows ?? [],
      end: () => client.end(),
    }
  },
  storage: (url, options) => postgresStorage(url, options) as ForgeStorage<unknown>,
  plan: postgresSchemaPlan,
  migrate(url, patience) {
    const context = createSqlContext(postgresDialect)
    const server = new DatabaseServer({ client: new PgDatabaseClient(url), rules: new PostgresRules(context) })
    return closing(server, () => migrateServer(server, new Schema(context), unlimited(), patience))
  },
}

/** MariaDB. */
export const MARIADB: ServerKind = {
  server: SERVERS.mariadb,
  dialect: mysqlDialect,
  async connect(url) {
    const connection = await createConnection(url)
    return {
      async run(sql) {
        const [rows] = await connection.query(sql)
        return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []
      },
      end: () => connection.end(),
    }
  },
  storage: (url, options) => mysqlStorage(url, options) as ForgeStorage<unknown>,
  plan: mysqlSchemaPlan,
  migrate(url, patience) {
    const context = createSqlContext(mysqlDialect)
    const rules = new MariadbRules(context.ids, { sendsPlainText: false })
    const server = new DatabaseServer({ client: new Mysql2DatabaseClient(url), rules })
    return closing(server, () => migrateServer(server, new Schema(context), unlimited(), patience))
  },
}

function unlimited(): CallDeadline {
  return new CallDeadline({ total: Number.POSITIVE_INFINITY })
}

async function closing(server: { close(): Promise<void> }, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } finally {
    await server.close()
  }
}

/** Every kind of server. */
export const SERVER_KINDS: readonly ServerKind[] = [POSTGRES, MARIADB]

/** A database of its own, dropped when the test ends. */
export class TestDatabase {
  readonly url: string
  readonly #kind: ServerKind
  readonly #hosts: HostConnection

  constructor(kind: ServerKind, url: string, host: HostConnection) {
    this.#kind = kind
    this.url = url
    this.#hosts = host
  }

  /** Runs one statement of the host. */
  run(sql: string): Promise<readonly Record<string, unknown>[]> {
    return this.#hosts.run(sql)
  }

  /** One more connection of the host, closed when the test ends. */
  async connect(): Promise<HostConnection> {
    const connection = await this.#kind.connect(this.url)
    onTestFinished(() => connection.end().catch(() => undefined))
    return connection
  }

  /** A storage, closed when the test ends. */
  storage(options?: SchemaStorageOptions): ForgeStorage {
    const storage = this.#kind.storage(this.url, options)
    onTestFinished(() => storage.close())
    return storage
  }

  /** A migrated storage, closed when the test ends. */
  async migrated(options?: SchemaStorageOptions): Promise<ForgeStorage> {
    const storage = this.storage(options)
    await storage.migrate()
    return storage
  }

  /** Brings empty tables of an earlier version into being, as its library did. */
  async makeVersion(version: number): Promise<void> {
    const later = this.#kind.plan({ from: version })
    const all = this.#kind.plan()
    for (const sql of all.slice(0, all.length - later.length)) await this.run(sql)
  }
}

/** Makes a database on a server, dropped when the test ends or what `atEnd` says. */
export async function newDatabase(
  kind: ServerKind,
  server: string,
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<TestDatabase> {
  const name = `forgelet_schema_${randomBytes(5).toString('hex')}`
  const admin = await kind.connect(server)
  await admin.run(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const host = await kind.connect(url.href)
  atEnd(async () => {
    await host.end()
    await dropped(admin, name)
    await admin.end()
  })
  return new TestDatabase(kind, url.href, host)
}

/** A pool of pg's says it has ended before the server has noticed it. */
async function dropped(admin: HostConnection, name: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await admin.run(`drop database ${name}`)
      return
    } catch (error) {
      if (attempt === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
