import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { createConnection, createPool } from 'mysql2/promise'
import pg from 'pg'
import type { TestContext } from 'vitest'
import { afterAll } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import type { KyselyDatabase, KyselyExecutor } from '../../src/storage/postgres.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { AtEnd, DatabaseKind, HostConnection, TestDatabase } from '../databases.ts'
import { EmptyDatabases, MARIADB, mariadbConnection, onServer, POSTGRES, pgConnection, SERVERS } from '../databases.ts'
import { heldOpen, mariadbKysely, postgresKysely } from './client-kinds.ts'

/** A storage on a server, used in one of the ways there are, and what its host has. */
export interface ServerUse {
  readonly name: string
  readonly storage: ForgeStorage<unknown>
  begin(): Promise<{ readonly transaction: unknown; commit(): Promise<unknown> }>
  /** Runs a statement of the host on a transaction, his own or that of a `beforeCommit`. */
  run(transaction: unknown, text: string): Promise<unknown>
  /** Ends what the host has opened, without waiting for a silent server. */
  end(): Promise<void>
}

/** Opens a use with so many connections at most, where the host says how many. */
type OpenUse = (url: string, connections: number) => ServerUse

/** A kind of server, as tests of connections need it. */
export interface ServerKind {
  readonly name: 'PostgreSQL' | 'MariaDB'
  /** How a COMMIT of the storage looks on its way. */
  readonly commit: string
  /** Over a URL, a pool of the host, and a Kysely of the host. */
  readonly uses: readonly OpenUse[]
  /** The URL of the database for a new user with so many connections at most. */
  limitedUser(database: Below, connections: number, atEnd: AtEnd): Promise<string>
  connect(url: string): Promise<HostConnection<unknown>>
  /** Ends every connection to the database but the one that does it. */
  endConnections(database: Below): Promise<void>
}

/** The database below a use, as its host reaches it. */
export type Below = Pick<TestDatabase<unknown>, 'url' | 'run' | 'connect'>

type TestOfUse = (
  use: ServerUse,
  database: Below,
  open: (url: string, connections?: number) => ServerUse,
) => Promise<void>

/** Defines tests on each kind of server. `onEach` runs one on every use at once, each in a database of its own. */
export function onEachUse(
  suite: (kind: ServerKind, onEach: (context: TestContext, work: TestOfUse) => Promise<void>) => void,
): void {
  const define = <Tx>(kind: ServerKind, below: DatabaseKind<Tx>) => {
    const databases = new EmptyDatabases(below)
    afterAll(() => databases.end())
    suite(kind, (context, work) => onUses(kind, databases, context, work))
  }
  onServer(SERVERS.postgres, () => define(POSTGRES_SERVER, POSTGRES))
  onServer(SERVERS.mariadb, () => define(MARIADB_SERVER, MARIADB))
}

async function onUses<Tx>(
  { uses }: ServerKind,
  databases: EmptyDatabases<Tx>,
  { onTestFinished }: TestContext,
  work: TestOfUse,
): Promise<void> {
  const ends = uses.map(async (openUse) => {
    const database = await databases.forTest({}, onTestFinished)
    const open = (url: string, max = 8) => {
      const use = openUse(url, max)
      onTestFinished(async () => {
        await use.storage.close()
        await use.end()
      })
      return use
    }
    const use = open(database.url)
    await work(use, database, open).catch((cause: unknown) => {
      throw new Error(`over ${use.name}`, { cause })
    })
  })
  const failed = (await Promise.allSettled(ends)).find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

const POSTGRES_SERVER: ServerKind = {
  name: 'PostgreSQL',
  commit: 'commit\0',
  async limitedUser(database, connections, atEnd) {
    const user = aName()
    await database.run(`create role ${user} login password '${PASSWORD}' connection limit ${connections}`)
    for (const what of ['all tables', 'all sequences'])
      await database.run(`grant all on ${what} in schema public to ${user}`)
    atEnd(async () => {
      await database.run(`drop owned by ${user}`)
      await database.run(`drop role ${user}`)
    })
    return asUser(database.url, user)
  },
  connect: pgConnection,
  async endConnections(database) {
    await database.run(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  },
  uses: [
    (url) => ({
      name: 'a URL',
      storage: anyHost(postgresStorage(url)),
      async begin() {
        const transaction = new pg.Client(url)
        await transaction.connect()
        await transaction.query('begin')
        return { transaction, commit: () => transaction.query('commit').then(() => transaction.end()) }
      },
      run: query,
      end: async () => undefined,
    }),
    (url, max) => {
      const pool = new pg.Pool({ connectionString: url, max }) // only the storage listens for its errors
      return {
        name: 'a pool',
        storage: anyHost(postgresStorage<pg.PoolClient>(pool)),
        async begin() {
          const transaction = await pool.connect()
          await transaction.query('begin')
          return { transaction, commit: () => transaction.query('commit').then(() => transaction.release()) }
        },
        run: query,
        async end() {
          pool.on('error', ignore)
          await Promise.race([pool.end().catch(ignore), soon()])
        },
      }
    },
    (url, max) => overKysely(postgresStorage, postgresKysely(url, { max })),
  ],
}

const MARIADB_SERVER: ServerKind = {
  name: 'MariaDB',
  commit: '\x03commit',
  async limitedUser(database, connections, atEnd) {
    const user = aName()
    const limit = `max_user_connections ${connections}`
    await database.run(`create user ${user} identified by '${PASSWORD}' with ${limit}`)
    await database.run(`grant all on ${new URL(database.url).pathname.slice(1)}.* to ${user}`)
    atEnd(async () => void (await database.run(`drop user ${user}`)))
    return asUser(database.url, user)
  },
  connect: mariadbConnection,
  async endConnections(database) {
    const found = await database.run(
      'select id from information_schema.processlist where db = database() and id <> connection_id()',
    )
    await Promise.allSettled(found.map(({ id }) => database.run(`kill ${Number(id)}`)))
  },
  uses: [
    (url) => ({
      name: 'a URL',
      storage: anyHost(mariadbStorage(url)),
      async begin() {
        const transaction = await createConnection(url)
        await transaction.beginTransaction()
        return { transaction, commit: () => transaction.commit().then(() => transaction.end()) }
      },
      run: query,
      end: async () => undefined,
    }),
    (uri, connectionLimit) => {
      const pool = createPool({ uri, connectionLimit })
      return {
        name: 'a pool',
        storage: anyHost(mariadbStorage(pool)),
        async begin() {
          const transaction = await pool.getConnection()
          await transaction.beginTransaction()
          return { transaction, commit: () => transaction.commit().then(() => transaction.release()) }
        },
        run: query,
        end: () => Promise.race([pool.end().catch(ignore), soon()]),
      }
    },
    (url, connectionLimit) => overKysely(mariadbStorage, mariadbKysely(url, connectionLimit)),
  ],
}

const PASSWORD = 'limited'

const aName = (): string => `forgelet_${randomBytes(5).toString('hex')}`

function asUser(url: string, username: string): string {
  return Object.assign(new URL(url), { username, password: PASSWORD }).href
}

function overKysely(
  open: (database: KyselyDatabase) => ForgeStorage<KyselyExecutor>,
  kysely: ReturnType<typeof postgresKysely>,
): ServerUse {
  return {
    name: 'a Kysely',
    storage: anyHost(open(kysely)),
    async begin() {
      const { transaction, commit } = await heldOpen(kysely.transaction())
      return { transaction, commit: async () => commit() }
    },
    run: (transaction, text) => sql.raw(text).execute(transaction as typeof kysely), // what Kysely began itself
    end: () => Promise.race([kysely.destroy().catch(ignore), soon()]),
  }
}

/** Runs a statement on a connection of pg or mysql2. */
export async function query(transaction: unknown, text: string): Promise<unknown> {
  if (typeof transaction !== 'object' || transaction === null) throw new TypeError('there is no transaction')
  return Reflect.get(transaction, 'query').call(transaction, text)
}

/** The tests hand each storage the transactions of its own host. */
function anyHost<Tx>(storage: ForgeStorage<Tx>): ForgeStorage<unknown> {
  return storage as ForgeStorage<unknown>
}

/** A pool with a connection that is still in use does not end. */
function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200).unref())
}

function ignore(): void {}
