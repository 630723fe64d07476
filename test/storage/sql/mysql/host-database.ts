import type { Connection, ConnectionOptions, Pool, PoolOptions } from 'mysql2/promise'
import { createConnection, createPool } from 'mysql2/promise'
import { afterAll, onTestFinished } from 'vitest'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import type { SqlStorageOptions } from '../../../../src/storage/mysql.ts'
import { mysqlStorage } from '../../../../src/storage/mysql.ts'
import type { Place } from '../../databases/mariadb.ts'
import { MariadbDatabases } from '../../databases/mariadb.ts'
import { onServer, SERVERS } from '../../databases/servers.ts'

/** Defines tests that need a MariaDB server; `open` gives a database with our tables, and nothing in them. */
export function onMariadb(suite: (open: () => Promise<HostDatabase>) => void): void {
  onServer(SERVERS.mariadb, (server) => {
    const databases = new MariadbDatabases(server)
    afterAll(() => databases.end())

    suite(async () => {
      const place = await databases.take()
      const maker = databases.counted(place, mysqlStorage(place.url))
      await maker.migrate()
      onTestFinished(() => maker.close())
      return new HostDatabase(place)
    })
  })
}

/** A database on a server as its host has it. What is opened is closed when the test ends. */
export class HostDatabase {
  readonly url: string
  readonly name: string

  constructor({ url, name }: Place) {
    this.url = url
    this.name = name
  }

  /** A pool of the host. */
  pool(options: PoolOptions = {}): Pool {
    const pool = createPool({ uri: this.url, connectionLimit: 8, ...options })
    onTestFinished(() => pool.end().catch(() => undefined)) // a test may have ended it
    return pool
  }

  /** A connection of the host. */
  async connect(options: ConnectionOptions = {}): Promise<Connection> {
    const connection = await createConnection({ uri: this.url, ...options })
    connection.on('error', () => undefined)
    onTestFinished(() => connection.destroy())
    return connection
  }

  /** A storage over a pool; over a pool of its own when none is given. */
  storage(pool: string | Pool | undefined = undefined, options: SqlStorageOptions = {}): ForgeStorage<Connection> {
    const storage = mysqlStorage<Connection>(pool ?? this.url, options)
    onTestFinished(() => storage.close())
    return storage
  }

  /** Runs one statement on a connection of the host, and gives its rows. */
  async run(sql: string, values: readonly (string | number)[] = []): Promise<readonly Record<string, unknown>[]> {
    const connection = await createConnection(this.url)
    try {
      const [rows] = await connection.execute(sql, [...values])
      return Array.isArray(rows) ? rows.map((row) => ({ ...row })) : []
    } finally {
      await connection.end()
    }
  }
}
