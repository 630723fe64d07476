import pg from 'pg'
import { afterAll, onTestFinished } from 'vitest'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import type { SchemaStorageOptions } from '../../../../src/storage/postgres.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import { PostgresDatabase } from '../../databases/postgres.ts'
import { onServer, SERVERS } from '../../databases/servers.ts'

/** Defines tests that need a PostgreSQL server; `open` gives a schema with our tables, and nothing in them. */
export function onPostgres(suite: (open: () => Promise<HostDatabase>, server: string) => void): void {
  onServer(SERVERS.postgres, (server) => {
    const database = new PostgresDatabase(server)
    afterAll(() => database.end())

    suite(async () => {
      await database.pool
      const opened = new HostDatabase(database.url, database.newSchema())
      await opened.storage().migrate()
      return opened
    }, server)
  })
}

/** A schema in a database on a server as its host has it. What is opened is closed when the test ends. */
export class HostDatabase {
  readonly url: string
  readonly schema: string

  constructor(url: string, schema: string) {
    this.url = url
    this.schema = schema
  }

  /** A pool of the host, whose clients find our tables by themselves. It has no error listener. */
  pool(config: pg.PoolConfig = {}): pg.Pool {
    const pool = new pg.Pool({ connectionString: this.url, options: `-c search_path=${this.schema}`, ...config })
    onTestFinished(async () => {
      pool.on('error', () => undefined) // the database may be dropped before the last connection has ended
      await pool.end().catch(() => undefined) // a test may have ended it
    })
    return pool
  }

  /** A client of the host. */
  async connect(config: pg.ClientConfig = {}): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url, options: `-c search_path=${this.schema}`, ...config })
    await client.connect()
    onTestFinished(() => client.end().catch(() => undefined)) // a test may have lost it
    return client
  }

  /** A client of the host's with an open transaction. */
  async begun(begin = 'begin'): Promise<pg.Client> {
    const client = await this.connect()
    await client.query(begin)
    return client
  }

  /** A storage over a pool; over a pool of its own when none is given. */
  storage(
    urlOrPool: string | pg.Pool = this.url,
    options: SchemaStorageOptions = {},
  ): ForgeStorage<pg.Client | pg.PoolClient> {
    const storage = postgresStorage<pg.Client | pg.PoolClient>(urlOrPool, { schema: this.schema, ...options })
    onTestFinished(() => storage.close())
    return storage
  }

  /** Runs one statement on a connection of the host, and gives its rows. */
  async run(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url, options: `-c search_path=${this.schema}` })
    await client.connect()
    try {
      return (await client.query(text, [...values])).rows
    } finally {
      await client.end()
    }
  }
}
