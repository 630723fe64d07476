import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import type { Connection } from 'mysql2/promise'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest'
import type { BegunTransaction } from '../app/testing/testing.ts'
import type { MaybePromise } from '../src/index.ts'
import { mariadbSchemaPlan, mariadbStorage } from '../src/storage/mariadb.ts'
import type { PgPoolClient, SchemaStorageOptions, SqlStorageOptions } from '../src/storage/postgres.ts'
import { postgresSchemaPlan, postgresStorage } from '../src/storage/postgres.ts'
import { sqliteSchemaPlan, sqliteStorage } from '../src/storage/sqlite.ts'
import type { ForgeStorage } from '../src/storage/storage.ts'
import { startPglite } from './pglite.ts'

/** Rows as a driver gives them. */
export type Rows = readonly Record<string, unknown>[]

/** The isolation levels of a host's transaction that tests begin. Without one, it is the level that a host would use. */
export type Level = 'snapshot' | 'read committed'

/** A connection of the host. */
export interface HostConnection<Tx = unknown> {
  /** The driver's own object: what `withTransaction` takes once a transaction is begun on it. */
  readonly transaction: Tx
  run(sql: string): Promise<Rows>
  end(): MaybePromise<unknown>
}

/** A transaction of the host. */
export interface OpenTransaction<Tx> extends BegunTransaction<Tx> {
  run(sql: string): Promise<Rows>
}

/** One database, as a host's program opens it. */
export interface Host<Tx> {
  storage(options?: SchemaStorageOptions): ForgeStorage<Tx>
  connect(): Promise<HostConnection<Tx>>
  begin(level?: Level): Promise<OpenTransaction<Tx>>
  run(sql: string): Promise<Rows>
  end(): Promise<void>
}

/** A database server, and the variable that names its URL. */
export interface TestServer {
  readonly name: string
  readonly variable: string
}

/** A kind of database: how one is made, used and dropped. */
export interface DatabaseKind<Tx> {
  readonly name: string
  /** Nothing for a database in a file or in this process. */
  readonly server?: TestServer
  /** Whether another process can open the same database. */
  readonly isShared: boolean
  /** Whether a storage answers while a transaction of the host is open. */
  readonly answersBeside: boolean
  readonly levels: readonly Level[]
  /** Makes an empty database, and returns its URL or file. */
  create(server: string): Promise<string>
  drop(url: string, server: string): Promise<unknown>
  /** Removes all rows of ours and the tables `host_…`. Without this, a new database costs less. */
  empty?(run: Host<Tx>['run']): Promise<unknown>
  open(url: string): Promise<Host<Tx>>
  plan(options?: SqlStorageOptions): readonly string[]
}

/** A kind of database whose connections are of no interest. */
export interface AnyKind extends Pick<DatabaseKind<unknown>, 'name' | 'server'> {
  /** Defines tests on this kind of database. */
  define(suite: DatabaseSuite): void
}

/** Gives a migrated, empty database, whose tables no test may change. */
export type OpenDatabase<Tx> = (options?: SchemaStorageOptions) => Promise<TestDatabase<Tx>>

/** Tests on one kind of database. */
export type DatabaseSuite = <Tx>(open: OpenDatabase<Tx>, kind: DatabaseKind<Tx>) => void

/** Is told what to do when a test has ended, or a file. */
export type AtEnd = (end: () => Promise<void>) => void

export const SERVERS: { readonly postgres: TestServer; readonly mariadb: TestServer } = {
  postgres: { name: 'PostgreSQL', variable: 'FORGELET_TEST_POSTGRES_URL' },
  mariadb: { name: 'MariaDB', variable: 'FORGELET_TEST_MARIADB_URL' },
}

/** Whether a server that is missing is a failure. */
export function serversAreRequired(): boolean {
  return process.env['FORGELET_REQUIRE_DB'] === '1'
}

/**
 * Defines tests that need a server. Without one they are skipped, of which the run says one line
 * (test/codebase/setup/prepare.ts); with `FORGELET_REQUIRE_DB=1` they are one test, and that fails.
 */
export function onServer(server: TestServer, suite: (url: string) => void): void {
  const url = process.env[server.variable]
  if (url) {
    describe(`on ${server.name}`, () => suite(url))
    return
  }

  describe.skipIf(!serversAreRequired())(`on ${server.name}`, () => {
    test('there is a server', () => {
      throw new Error(`FORGELET_REQUIRE_DB=1 asks for ${server.name}, and ${server.variable} names none`)
    })
  })
}

/** Defines the same tests on several kinds of databases. */
export function onDatabases(kinds: readonly AnyKind[], suite: DatabaseSuite): void {
  for (const kind of kinds) kind.define(suite)
}

/** Defines tests on one kind of database, with its own driver. */
export function onDatabase<Tx>(kind: DatabaseKind<Tx>, suite: (open: OpenDatabase<Tx>) => void): void {
  const tests = () => {
    const databases = new EmptyDatabases(kind)
    if (kind.empty !== undefined) beforeAll(() => databases.make()) // a database may start for longer than a test may take
    afterAll(() => databases.end())
    suite((options) => databases.forTest(options))
  }
  if (kind.server === undefined) describe(`on ${kind.name}`, tests)
  else onServer(kind.server, tests)
}

/** A new, empty database without our tables: of one test, or until `atEnd` says. */
export async function newDatabase<Tx>(
  kind: DatabaseKind<Tx>,
  { atEnd = onTestFinished, server = serverOf(kind) }: { readonly atEnd?: AtEnd; readonly server?: string } = {},
): Promise<TestDatabase<Tx>> {
  const url = await kind.create(server)
  atEnd(async () => void (await kind.drop(url, server)))
  const host = await kind.open(url)
  atEnd(() => host.end())
  return new TestDatabase(kind, url, host, atEnd)
}

/** A database as tests use it. What is opened here is closed when the test ends, or what made the database. */
export class TestDatabase<Tx = unknown> {
  readonly kind: DatabaseKind<Tx>
  /** Its URL or file. */
  readonly url: string
  readonly host: Host<Tx>
  readonly #atEnd: AtEnd

  constructor(kind: DatabaseKind<Tx>, url: string, host: Host<Tx>, atEnd: AtEnd) {
    this.kind = kind
    this.url = url
    this.host = host
    this.#atEnd = atEnd
  }

  storage(options?: SchemaStorageOptions): ForgeStorage<Tx> {
    return this.closing(this.host.storage(options))
  }

  /** A storage whose tables exist. */
  async migrated(options?: SchemaStorageOptions): Promise<ForgeStorage<Tx>> {
    const storage = this.storage(options)
    await storage.migrate()
    return storage
  }

  /** Closes a storage that a test opened by itself. */
  closing<S extends { close(): Promise<void> }>(storage: S): S {
    this.#atEnd(() => storage.close())
    return storage
  }

  /** One more connection of the host. */
  async connect(): Promise<HostConnection<Tx>> {
    const connection = await this.host.connect()
    this.#atEnd(async () => void (await connection.end()))
    return connection
  }

  /** A transaction of the host, rolled back if the test does not end it. */
  async begun(level?: Level): Promise<OpenTransaction<Tx>> {
    const transaction = await this.host.begin(level)
    let isOpen = true
    const ending = (end: () => MaybePromise<void>) => async () => {
      isOpen = false
      await end()
    }
    this.#atEnd(async () => {
      if (isOpen) await Promise.resolve(transaction.rollback()).catch(() => undefined) // the test may have lost it
      await transaction.release?.()
    })
    return { ...transaction, commit: ending(transaction.commit), rollback: ending(transaction.rollback) }
  }

  /** Runs one statement of the host. */
  run(sql: string): Promise<Rows> {
    return this.host.run(sql)
  }

  /** Runs statements of the host on one connection. */
  async runAll(statements: readonly string[]): Promise<void> {
    const { run } = await this.connect()
    for (const sql of statements) await run(sql)
  }
}

/** A database with our tables, and how many storages are open on it. */
export interface Place<Tx> {
  readonly url: string
  readonly host: Host<Tx>
  /** The options of its storages: they decide on the types of columns. */
  readonly options: string
  open: number
}

/** Databases with our tables, given out again, without rows, when all their storages are closed. */
export class EmptyDatabases<Tx> {
  readonly #kind: DatabaseKind<Tx>
  readonly #places: Place<Tx>[] = []

  constructor(kind: DatabaseKind<Tx>) {
    this.#kind = kind
  }

  /** A database of one test. */
  async forTest(options?: SchemaStorageOptions, atEnd: AtEnd = onTestFinished): Promise<TestDatabase<Tx>> {
    const place = await this.take(options)
    atEnd(async () => {
      place.open -= 1
    })
    return new TestDatabase(this.#kind, place.url, place.host, atEnd)
  }

  /** Makes a first database, for whoever takes one. */
  async make(): Promise<void> {
    const place = await this.take()
    place.open -= 1
  }

  /**
   * A database that the taker has until it is given back.
   *
   * @param made - the statements that make the tables of the host which the options name: not `host_…`, which are removed
   */
  async take(options: SchemaStorageOptions = {}, made: readonly string[] = []): Promise<Place<Tx>> {
    const key = JSON.stringify(options)
    const { empty } = this.#kind
    const free = this.#places.find((place) => place.open === 0 && place.options === key)
    if (free !== undefined && empty !== undefined) {
      free.open += 1
      await empty(free.host.run)
      return free
    }

    const url = await this.#kind.create(serverOf(this.#kind))
    const host = await this.#kind.open(url)
    const place = { url, host, options: key, open: 1 }
    this.#places.push(place)
    for (const statement of made) await host.run(statement)
    const storage = host.storage(options)
    await storage.migrate()
    await storage.close()
    return place
  }

  /** The first storage on a database that was taken: closing it, and others on it, gives the database back. */
  async taken(
    options?: SchemaStorageOptions,
    made?: readonly string[],
  ): Promise<readonly [Place<Tx>, ForgeStorage<Tx>]> {
    const place = await this.take(options, made)
    const storage = await this.storage(place, options)
    place.open -= 1
    return [place, storage]
  }

  /** A storage on a database, which is free again when the last is closed; of another process, with a host of its own. */
  async storage(
    place: Place<Tx>,
    options?: SchemaStorageOptions,
    host: Host<Tx> = place.host,
  ): Promise<ForgeStorage<Tx>> {
    place.open += 1
    const storage = host.storage(options)
    await storage.migrate()
    let closed: Promise<void> | undefined
    const close = async () => {
      await storage.close()
      if (host !== place.host) await host.end()
      place.open -= 1
    }
    return {
      ...storage,
      close: () => {
        closed ??= close()
        return closed
      },
    }
  }

  async end(): Promise<void> {
    for (const { url, host } of this.#places) {
      await host.end()
      await this.#kind.drop(url, serverOf(this.#kind))
    }
  }
}

function serverOf({ server }: { readonly server?: TestServer }): string {
  return (server && process.env[server.variable]) ?? ''
}

/** A kind of database on a server. */
export type OnServer<Tx> = DatabaseKind<Tx> & AnyKind & { readonly server: TestServer }

/** A kind of database, and how tests are defined on it. */
export function kind<Tx, K extends DatabaseKind<Tx> = DatabaseKind<Tx>>(made: K): K & AnyKind {
  return { ...made, define: (suite) => onDatabase(made, (open) => suite(open, made)) }
}

/** Begins a transaction with the statements of its level, on a connection of its own. */
async function beginOn<Tx>(
  { transaction, run, end }: HostConnection<Tx>,
  begin: readonly string[],
): Promise<OpenTransaction<Tx>> {
  for (const sql of begin) await run(sql)
  return {
    transaction,
    run,
    commit: async () => void (await run('commit')),
    rollback: async () => void (await run('rollback')),
    release: async () => void (await end()),
  }
}

/** Makes a storage of SQLite. */
export type MakeSqlite = (
  over: string | Database.Database,
  options?: SchemaStorageOptions,
) => ForgeStorage<Database.Database>

/** SQLite in a file; the host opens a handle for each of its transactions. */
export const SQLITE: DatabaseKind<Database.Database> & AnyKind = kind<Database.Database>({
  name: 'SQLite',
  isShared: true,
  answersBeside: true,
  levels: ['snapshot'],
  create: async () => join(mkdtempSync(join(tmpdir(), 'forgelet-test-')), 'forge.sqlite'),
  drop: async (file) => rmSync(dirname(file), { recursive: true, force: true }),
  plan: sqliteSchemaPlan,
  async open(file) {
    const connect = async () => sqliteConnection(new Database(file, { timeout: 0 }))
    return {
      storage: (options) => sqliteStorage<Database.Database>(file, options),
      connect,
      begin: async (level) => beginOn(await connect(), [level === 'snapshot' ? 'begin' : 'begin immediate']),
      async run(sql) {
        const { run, end } = sqliteConnection(new Database(file))
        return run(sql).finally(end)
      },
      end: async () => undefined,
    }
  },
})

/** SQLite in memory: one handle, which the storage and its host share. */
export const sqliteInMemoryKind = (make: MakeSqlite = sqliteStorage): DatabaseKind<Database.Database> & AnyKind =>
  kind<Database.Database>({
    name: 'SQLite in memory',
    isShared: false,
    answersBeside: false,
    levels: [],
    create: async () => ':memory:',
    drop: async () => undefined,
    plan: sqliteSchemaPlan,
    async open() {
      const handle = new Database(':memory:')
      const shared = { ...sqliteConnection(handle), end: () => undefined }
      return {
        storage: (options) => make(handle, options),
        connect: async () => shared,
        begin: () => beginOn(shared, ['begin immediate']),
        run: shared.run,
        end: async () => void handle.close(),
      }
    },
  })

function sqliteConnection(handle: Database.Database): HostConnection<Database.Database> {
  return {
    transaction: handle,
    async run(sql) {
      if (/^(select\b|pragma [^=]*$)/i.test(sql)) return handle.prepare<[], Record<string, unknown>>(sql).all()
      handle.exec(sql)
      return []
    },
    end: () => handle.close(),
  }
}

/** Makes a storage of PostgreSQL. */
export type MakePostgres = (url: string, options?: SchemaStorageOptions) => ForgeStorage<pg.Client>

/** PostgreSQL; the host has a connection for each of its transactions. */
export const postgresKind = (make: MakePostgres = postgresStorage): OnServer<pg.Client> =>
  kind<pg.Client, DatabaseKind<pg.Client> & { readonly server: TestServer }>({
    name: 'PostgreSQL',
    server: SERVERS.postgres,
    isShared: true,
    answersBeside: true,
    levels: ['snapshot', 'read committed'],
    create: (server) => createOn(pgConnection, server),
    drop: (url, server) => runOnce(pgConnection, server, `drop database ${nameIn(url)} with (force)`),
    empty: (run) => emptyPostgres(run, 'public'),
    plan: postgresSchemaPlan,
    async open(url) {
      const own = await pgConnection(url)
      return {
        storage: (options) => make(url, options),
        connect: () => pgConnection(url),
        begin: async (level) => beginOn(await pgConnection(url), [POSTGRES_BEGIN[level ?? 'default']]),
        run: own.run,
        end: async () => void (await own.end()),
      }
    },
  })

const POSTGRES_BEGIN = {
  default: 'begin',
  snapshot: 'begin isolation level repeatable read',
  'read committed': 'begin isolation level read committed',
} as const

/** A client of pg's: with a listener, so that a test may lose it. */
export async function pgConnection(url: string): Promise<HostConnection<pg.Client>> {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  const run = async (sql: string) => (await client.query(sql)).rows ?? []
  return { transaction: client, run, end: () => client.end().catch(() => undefined) }
}

/** Empties the tables of every storage in a schema; one statement, because foreign keys are checked when it ends. */
async function emptyPostgres(run: Host<unknown>['run'], schema: string): Promise<void> {
  const rows = await run(`select tablename as name from pg_tables where schemaname = '${schema}'`)
  const names = rows.map(({ name }) => String(name)).filter((name) => !/(ledger|host_tables)$/.test(name))
  const named = (name: string) => `"${schema}"."${name}"`
  const ours = names.filter((name) => !name.startsWith('host_'))
  const removing = ours
    .filter((name) => !name.endsWith('outbox'))
    .map((name, index) => `t${index} as (delete from ${named(name)})`)
  await run(
    [
      `with ${removing.join()} select 1`,
      ...ours
        .filter((name) => name.endsWith('outbox'))
        .map((name) => `update ${named(name)} set last_position = 0, floor = 0`),
      ...names.filter((name) => name.startsWith('host_')).map((name) => `drop table ${named(name)} cascade`),
    ].join('; '),
  )
}

/** MariaDB; the host has a connection for each of its transactions. */
export const mariadbKind = (): OnServer<Connection> =>
  kind<Connection, DatabaseKind<Connection> & { readonly server: TestServer }>({
    name: 'MariaDB',
    server: SERVERS.mariadb,
    isShared: true,
    answersBeside: true,
    levels: ['snapshot', 'read committed'],
    create: (server) => createOn(mariadbConnection, server),
    drop: (url, server) => runOnce(mariadbConnection, server, `drop database ${nameIn(url)}`),
    empty: emptyMariadb,
    plan: mariadbSchemaPlan,
    async open(url) {
      const own = await mariadbConnection(url)
      return {
        storage: (options) => mariadbStorage(url, options),
        connect: () => mariadbConnection(url),
        begin: async (level) => beginOn(await mariadbConnection(url), mariadbBegin(level)),
        run: own.run,
        end: async () => void (await own.end()),
      }
    },
  })

function mariadbBegin(level: Level | undefined): readonly string[] {
  if (level === undefined) return ['start transaction']

  const name = level === 'snapshot' ? 'repeatable read' : level
  return [`set transaction isolation level ${name}`, 'start transaction']
}

/** A connection of mysql2: with a listener, so that a test may lose it. */
export async function mariadbConnection(url: string): Promise<HostConnection<Connection>> {
  const connection = await createConnection(url)
  connection.on('error', () => undefined)
  return {
    transaction: connection,
    async run(sql) {
      const [rows] = await connection.query(sql)
      return Array.isArray(rows) ? rows.map((row) => ({ ...row })) : []
    },
    end: () => connection.end().catch(() => undefined),
  }
}

async function emptyMariadb(run: Host<unknown>['run']): Promise<void> {
  const rows = await run(
    "select table_name as name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'",
  )
  await run('set foreign_key_checks = 0')
  for (const { name } of rows) {
    const table = String(name)
    if (/(ledger|host_tables)$/.test(table)) continue
    if (table.startsWith('host_')) await run(`drop table ${table}`)
    else if (table.endsWith('outbox')) await run(`update ${table} set last_position = 0, floor = 0`)
    else await run(`delete from ${table}`)
  }
  await run('set foreign_key_checks = 1')
}

/** The one PostgreSQL of this process, from the first database on it to the last. */
const inProcess = { server: undefined as ReturnType<typeof startPglite> | undefined, made: 0, left: 0 }

/** PostgreSQL in this process: a real one with one connection, so nothing is done beside a transaction. Databases are schemas. */
function pgliteKind(): DatabaseKind<PgPoolClient> & AnyKind {
  const started = () => {
    inProcess.server ??= startPglite()
    return inProcess.server
  }
  const connection = async (schema: string): Promise<HostConnection<PgPoolClient>> => {
    const client = await (await started()).connect()
    const run = async (text: string) => (await client.query({ text, values: [] })).rows as Rows // rows are objects here
    await run(`set search_path = ${schema}`)
    return { transaction: client, run, end: () => client.release() }
  }
  const runIn = (schema: string) => async (sql: string) => {
    const { run, end } = await connection(schema)
    return run(sql).finally(end)
  }
  return kind<PgPoolClient>({
    name: 'PGlite',
    isShared: false,
    answersBeside: false,
    levels: [],
    plan: postgresSchemaPlan,
    async create() {
      inProcess.made += 1
      inProcess.left += 1
      const schema = `s${inProcess.made}`
      await runIn('public')(`create schema ${schema}`)
      return schema
    },
    async drop() {
      inProcess.left -= 1
      if (inProcess.left > 0) return

      const ending = inProcess.server
      inProcess.server = undefined
      await (await ending)?.end()
    },
    empty: async (run) => {
      const [row] = await run('select current_schema() as name')
      await emptyPostgres(run, String(row?.['name']))
    },
    async open(schema) {
      const pool = await started()
      return {
        storage: (options) => postgresStorage<PgPoolClient>(pool, { schema, ...options }),
        connect: () => connection(schema),
        begin: async () => {
          const begun = await connection(schema)
          const { release: _release, ...transaction } = await beginOn(begun, ['begin'])
          const ending = (end: () => MaybePromise<void>) => () => Promise.resolve(end()).finally(() => begun.end())
          return { ...transaction, commit: ending(transaction.commit), rollback: ending(transaction.rollback) }
        },
        run: runIn(schema),
        end: async () => undefined,
      }
    },
  })
}

async function createOn<Tx>(connect: (url: string) => Promise<HostConnection<Tx>>, server: string): Promise<string> {
  const name = `forgelet_test_${randomBytes(5).toString('hex')}`
  await runOnce(connect, server, `create database ${name}`)
  return Object.assign(new URL(server), { pathname: `/${name}` }).href
}

/** Runs a statement on a connection of its own. */
export async function runOnce<Tx>(
  connect: (url: string) => Promise<HostConnection<Tx>>,
  url: string,
  sql: string,
): Promise<Rows> {
  const { run, end } = await connect(url)
  return run(sql).finally(end)
}

function nameIn(url: string): string {
  return new URL(url).pathname.slice(1)
}

export const SQLITE_IN_MEMORY: DatabaseKind<Database.Database> & AnyKind = sqliteInMemoryKind()
export const PGLITE: DatabaseKind<PgPoolClient> & AnyKind = pgliteKind()

/** A kind of server, for tests that do not depend on the types of its driver: they hand each storage its own transactions. */
export type ServerKind = OnServer<unknown>

export const POSTGRES: ServerKind = anyDriver(postgresKind())
export const MARIADB: ServerKind = anyDriver(mariadbKind())

/** Every kind of server. */
export const SERVER_KINDS: readonly ServerKind[] = [POSTGRES, MARIADB]

function anyDriver<Tx>(made: OnServer<Tx>): ServerKind {
  return made as unknown as ServerKind // see ServerKind
}
