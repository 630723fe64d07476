import type { Connection, ConnectionOptions, Pool, PoolOptions } from 'mysql2/promise'
import { createConnection, createPool } from 'mysql2/promise'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import type { SqlStorageOptions } from '../../src/storage/mariadb.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import type { SchemaStorageOptions } from '../../src/storage/postgres.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { Rows, TestDatabase } from '../databases.ts'
import { mariadbKind, newDatabase, onServer, postgresKind, SERVERS } from '../databases.ts'

/** Defines tests that need a PostgreSQL server; `open` gives a database of the test's own, with our tables. */
export function onPostgres(suite: (open: () => Promise<PostgresHost>, server: string) => void): void {
  onServer(SERVERS.postgres, (server) => suite(async () => new PostgresHost(await migrated(postgresKind())), server))
}

/** Defines tests that need a MariaDB server; `open` gives a database of the test's own, with our tables. */
export function onMariadb(suite: (open: () => Promise<MariadbHost>) => void): void {
  onServer(SERVERS.mariadb, () => suite(async () => new MariadbHost(await migrated(mariadbKind()))))
}

async function migrated<Tx>(kind: Parameters<typeof newDatabase<Tx>>[0]): Promise<TestDatabase<Tx>> {
  const database = await newDatabase(kind)
  const storage = await database.migrated()
  await storage.close()
  return database
}

/** A database as a host with pg has it. What is opened is closed when the test ends. */
export class PostgresHost {
  readonly #database: TestDatabase<pg.Client>

  constructor(database: TestDatabase<pg.Client>) {
    this.#database = database
  }

  get url(): string {
    return this.#database.url
  }

  /** A pool without an error listener: that of the storage counts. */
  pool(config: pg.PoolConfig = {}): pg.Pool {
    const pool = new pg.Pool({ connectionString: this.url, ...config })
    onTestFinished(async () => {
      pool.on('error', () => undefined) // the database may be dropped before the last connection has ended
      await pool.end().catch(() => undefined) // a test may have ended it
    })
    return pool
  }

  async connect(config: pg.ClientConfig = {}): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url, ...config })
    await client.connect()
    onTestFinished(() => client.end().catch(() => undefined)) // a test may have lost it
    return client
  }

  /** A client with an open transaction. */
  async begun(begin = 'begin'): Promise<pg.Client> {
    const client = await this.connect()
    await client.query(begin)
    return client
  }

  /** A storage over a pool or a URL; over a pool of its own when none is given. */
  storage(
    over: string | pg.Pool = this.url,
    options: SchemaStorageOptions = {},
  ): ForgeStorage<pg.Client | pg.PoolClient> {
    return this.#database.closing(postgresStorage<pg.Client | pg.PoolClient>(over, options))
  }

  run(sql: string): Promise<Rows> {
    return this.#database.run(sql)
  }
}

/** A database as a host with mysql2 has it. What is opened is closed when the test ends. */
export class MariadbHost {
  readonly #database: TestDatabase<Connection>

  constructor(database: TestDatabase<Connection>) {
    this.#database = database
  }

  get url(): string {
    return this.#database.url
  }

  get name(): string {
    return new URL(this.url).pathname.slice(1)
  }

  /** A pool, on whose connections a statement runs before anything else. */
  pool(options: PoolOptions = {}, statement?: string): Pool {
    const pool = createPool({ uri: this.url, connectionLimit: 8, ...options })
    if (statement !== undefined) pool.on('connection', (connection) => void connection.query(statement))
    onTestFinished(() => pool.end().catch(() => undefined)) // a test may have ended it
    return pool
  }

  async connect(options: ConnectionOptions = {}): Promise<Connection> {
    const connection = await createConnection({ uri: this.url, ...options })
    connection.on('error', () => undefined)
    onTestFinished(() => connection.destroy())
    return connection
  }

  /** A connection with an open transaction, and a setting of the host. */
  async begun(setting = 'autocommit = 1'): Promise<Connection> {
    const connection = await this.connect()
    await connection.query(`set ${setting}`)
    await connection.beginTransaction()
    return connection
  }

  /** A storage over a pool or a URL; over a pool of its own when none is given. */
  storage(over: string | Pool = this.url, options: SqlStorageOptions = {}): ForgeStorage<Connection> {
    return this.#database.closing(mariadbStorage<Connection>(over, options))
  }

  run(sql: string): Promise<Rows> {
    return this.#database.run(sql)
  }
}
