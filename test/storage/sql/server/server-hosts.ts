import type { Connection, Pool } from 'mysql2/promise'
import pg from 'pg'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import * as mariadb from '../mysql/host-database.ts'
import * as postgres from '../postgres/host-database.ts'
import { watch } from './watched-connections.ts'

/** A connection of a driver, as a `beforeCommit` and `withTransaction` have it. */
export interface DriverConnection {
  query(sql: string): Promise<unknown>
}

/** A host with a database on a server that has our tables, and nothing in them. Everything ends with the test. */
export interface ServerHost {
  /** The URL of the database. */
  readonly url: string
  /** What the storage says of a URL with an unknown user, and of one with an unknown database. */
  readonly refusals: { readonly user: string; readonly database: string }
  /** How a COMMIT of the storage looks on its way. */
  readonly commit: string
  /** A statement that fails as one does whose transaction the server has aborted. */
  readonly abort: string
  /** A storage over a pool of the host, or over a URL: that of the database when none is given. */
  storage(over?: HostPool | string): ForgeStorage<DriverConnection>
  pool(options?: PoolOptions): HostPool
  connect(): Promise<HostClient>
  /** Runs one statement on a connection of the host. */
  run(sql: string): Promise<readonly Record<string, unknown>[]>
  /** Ends every connection to the database but the one that does it. */
  endConnections(): Promise<void>
  /** Returns once the ended connections are gone, and their pools know it. */
  settled(): Promise<void>
}

/** How a pool is made. */
interface PoolOptions {
  /** How many connections it has at most. */
  readonly max?: number
}

/** A pool of the host. It has no error listener. */
export interface HostPool {
  /** The pool of the driver. */
  readonly pool: unknown
  /** Counts the transactions that are begun on the connections that the pool makes from now on. */
  countBegins(): () => number
  /** Receives every statement on the connections that the pool makes from now on, as `watch` does. */
  watch(listen: (text: string) => unknown): void
  /** Takes a connection, and returns what releases it. */
  take(): Promise<() => void>
  end(): Promise<void>
}

/** A connection of the host. */
export interface HostClient {
  readonly connection: DriverConnection
  /** Begins a transaction, at the isolation level of the server when none is given. */
  begin(level?: string): Promise<unknown>
  commit(): Promise<unknown>
  rollBack(): Promise<unknown>
}

/** Defines tests that run on each kind of server, with the driver of each. */
export function onEachServer(suite: (open: () => Promise<ServerHost>) => void): void {
  postgres.onPostgres((open) => suite(async () => postgresHost(await open())))
  mariadb.onMariadb((open) => suite(async () => mariadbHost(await open())))
}

function postgresHost(database: postgres.HostDatabase): ServerHost {
  return {
    url: database.url,
    refusals: { user: 'the PostgreSQL server refuses the user', database: 'the database does not exist' },
    commit: 'commit\0',
    abort: "do $$ begin raise exception using errcode = '40001'; end $$",
    storage: (over) => ofHost(database.storage(typeof over === 'object' ? (over.pool as pg.Pool) : over)),
    pool: ({ max } = {}) => postgresPool(database.pool(max === undefined ? {} : { max })),
    async connect() {
      const client = await database.connect()
      client.on('error', () => undefined)
      return {
        connection: client,
        begin: (level) => client.query(level === undefined ? 'begin' : `begin isolation level ${level}`),
        commit: () => client.query('commit'),
        rollBack: () => client.query('rollback'),
      }
    },
    run: (sql) => database.run(sql),
    async endConnections() {
      const client = new pg.Client(database.url)
      client.on('error', () => undefined) // another may end it, who does the same
      await client.connect()
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      await client.end()
    },
    settled: () => new Promise((resolve) => setTimeout(resolve, 50)),
  }
}

function postgresPool(pool: pg.Pool): HostPool {
  const listen: HostPool['watch'] = (listen) => void pool.on('connect', (client) => watch(client, listen))
  return {
    pool,
    countBegins: () => counted(/^begin/, listen),
    watch: listen,
    async take() {
      const client = await pool.connect()
      return () => client.release()
    },
    end: () => pool.end(),
  }
}

function mariadbHost(database: mariadb.HostDatabase): ServerHost {
  const connections = 'select id from information_schema.processlist where db = ?'
  return {
    url: database.url,
    refusals: { user: 'the server refuses the user', database: 'the server has no database of that name' },
    commit: 'commit and no chain',
    abort: "signal sqlstate '40001' set mysql_errno = 1213",
    storage: (over) => ofHost(database.storage(typeof over === 'object' ? (over.pool as Pool) : over)),
    pool: ({ max } = {}) => mariadbPool(database.pool(max === undefined ? {} : { connectionLimit: max })),
    async connect() {
      const connection: Connection = await database.connect()
      return {
        connection,
        async begin(level) {
          if (level !== undefined) await connection.query(`set transaction isolation level ${level}`)
          await connection.beginTransaction()
        },
        commit: () => connection.commit(),
        rollBack: () => connection.rollback(),
      }
    },
    run: (sql) => database.run(sql),
    async endConnections() {
      const found = await database.run(`${connections} and id <> connection_id()`, [database.name])
      await Promise.allSettled(found.map(({ id }) => database.run(`kill ${Number(id)}`)))
    },
    async settled() {
      while ((await database.run(connections, [database.name])).length > 1);
      await new Promise((resolve) => setTimeout(resolve, 20))
    },
  }
}

function mariadbPool(pool: Pool): HostPool {
  const listen: HostPool['watch'] = (listen) => void pool.on('connection', (connection) => watch(connection, listen))
  return {
    pool,
    countBegins: () => counted(/start transaction/, listen),
    watch: listen,
    async take() {
      const connection = await pool.getConnection()
      return () => connection.release()
    },
    end: () => pool.end(),
  }
}

function counted(pattern: RegExp, listen: HostPool['watch']): () => number {
  let count = 0
  listen((text) => {
    if (pattern.test(text)) count += 1
  })
  return () => count
}

/** The tests hand each storage the connections of its own driver. */
function ofHost<Tx>(storage: ForgeStorage<Tx>): ForgeStorage<DriverConnection> {
  return storage as unknown as ForgeStorage<DriverConnection>
}
