import { sql } from 'kysely'
import type { PoolOptions } from 'mysql2'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import type { KyselyDatabase, KyselyExecutor, PgPool } from '../../src/storage/postgres.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { define, grant } from '../../src/testing/storage-contract/samples/badges.ts'
import { block, blocksOf } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { retire } from '../../src/testing/storage-contract/samples/retirements.ts'
import { expectAllKept } from './all-kept.ts'
import type { HostTables } from './client-kinds.ts'
import { mariadbKysely, postgresKysely } from './client-kinds.ts'
import type { MariadbHost, PostgresHost } from './driver-hosts.ts'
import { onMariadb, onPostgres } from './driver-hosts.ts'

/** What a role, a database or a pool may set for every session of PostgreSQL. */
const POSTGRES_SETTINGS: readonly (readonly string[])[] = [
  ['default_transaction_isolation=serializable', 'standard_conforming_strings=off', 'transform_null_equals=on'],
  ['default_transaction_isolation=repeatable\\ read', 'backslash_quote=on', 'quote_all_identifiers=on'],
  ['extra_float_digits=0', 'DateStyle=German', 'IntervalStyle=sql_standard', 'TimeZone=Pacific/Kiritimati'],
  ['default_transaction_deferrable=on', 'bytea_output=escape', 'lc_messages=C', 'client_min_messages=debug5'],
  ['lock_timeout=20s', 'statement_timeout=20s', 'idle_in_transaction_session_timeout=20s', 'synchronous_commit=off'],
  ['plan_cache_mode=force_generic_plan', 'enable_seqscan=off', 'jit_above_cost=0', 'row_security=off'],
]

/** What hosts set on a pool of mysql2 for their own sake. */
const POOL_OPTIONS: Readonly<Record<string, PoolOptions>> = {
  'large numbers as texts': { supportBigNumbers: true, bigNumberStrings: true },
  'decimals as numbers': { decimalNumbers: true },
  'times as texts, of another zone': { dateStrings: true, timezone: '+05:30' },
  'named placeholders': { namedPlaceholders: true },
  'several statements at once': { multipleStatements: true },
  'another collation': { charset: 'UTF8MB4_BIN' },
  'one connection': { connectionLimit: 1 },
  'a reset of each connection': { resetOnRelease: true },
}

/** What the storage reads past on a pool of mysql2, and cannot read through Kysely. */
const ONLY_POOL_OPTIONS: Readonly<Record<string, PoolOptions>> = {
  'no reading of types': { typeCast: false },
  'a reader of types': { typeCast: (field, next) => (field.type === 'DOUBLE' ? field.string() : [next()]) },
  'rows as lists': { rowsAsArray: true },
  'tables as objects': { nestTables: true },
  'tables before names': { nestTables: '_' },
  'a collation that treats different texts as equal': { charset: 'UTF8MB4_GENERAL_CI' },
}

/** What hosts set on each connection to MariaDB. */
const STATEMENTS: readonly string[] = [
  "set sql_mode = ''",
  "set sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,IGNORE_SPACE,HIGH_NOT_PRECEDENCE'",
  "set sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION,REAL_AS_FLOAT,ONLY_FULL_GROUP_BY'",
  'set session transaction isolation level serializable',
  'set innodb_lock_wait_timeout = 1, max_statement_time = 20',
  'set sql_safe_updates = 1',
]

/** What the storage changes for itself on a connection of mysql2, and cannot change through Kysely. */
const ONLY_POOL_STATEMENTS: readonly string[] = [
  'set autocommit = 0',
  "set sql_mode = 'NO_ZERO_DATE,NO_AUTO_VALUE_ON_ZERO,SIMULTANEOUS_ASSIGNMENT,STRICT_ALL_TABLES'",
  "set sql_mode = 'ORACLE'",
  'set session transaction read only',
  "set collation_connection = utf8mb4_turkish_ci, time_zone = '-11:00', lc_messages = 'de_DE'",
]

/** What makes connections unfit, and what the storage says. */
const REFUSED: readonly (readonly [PoolOptions, string | undefined, RegExp])[] = [
  [{}, "set sql_mode = 'NO_BACKSLASH_ESCAPES'", /remove NO_BACKSLASH_ESCAPES from its sql_mode/],
  [{}, "set sql_mode = 'ANSI_QUOTES,EMPTY_STRING_IS_NULL'", /remove EMPTY_STRING_IS_NULL from its sql_mode/],
  [{ charset: 'LATIN1_SWEDISH_CI' }, undefined, /uses latin1.*utf8mb4/],
  [{ charset: 'UTF8' }, undefined, /uses utf8mb3.*utf8mb4/],
]

/** What makes a Kysely on MariaDB unfit, which the storage reads past on a pool of mysql2. */
const KYSELY_REFUSED: readonly (readonly [PoolOptions, string | undefined, RegExp])[] = [
  [{ typeCast: (field, next) => (field.type === 'DOUBLE' ? field.string() : next()) }, undefined, /typeCast/],
  [{ rowsAsArray: true }, undefined, /list of objects/],
]

/** How pg reads a value, as hosts replace it for all queries. */
const parsing = (type: number, parser: (value: string) => unknown): pg.PoolConfig => ({
  types: {
    getTypeParser: (oid: number, format?: unknown) =>
      oid === type ? parser : pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text'),
  },
})

const NOTHING: pg.PoolConfig = {}

/** What makes connections to PostgreSQL unfit: over a pool of pg and over a Kysely, or only there. */
const PG_REFUSED: readonly (readonly [string, pg.PoolConfig, RegExp, ways: readonly number[]])[] = [
  ['extra_float_digits = -1', { options: '-c extra_float_digits=-1' }, /extra_float_digits/, [0, 1]],
  ['extra_float_digits = -15', { options: '-c extra_float_digits=-15' }, /extra_float_digits/, [0, 1]],
  ['binary', { ...NOTHING, ...{ binary: true } }, /binary/, [0, 1]],
  ['a parser of float8', parsing(701, (value) => value), /float8 \(701\)/, [1]],
  ['a parser of texts', parsing(25, (value) => value.trim()), /text \(25\)/, [1]],
]

/** A storage, and statements of its host on the same connections. */
interface Way {
  readonly name: string
  readonly storage: ForgeStorage<never>
  query(text: string): Promise<unknown>
}

onPostgres((open) => {
  test.each(POSTGRES_SETTINGS)('sessions with %s, %s, %s … change nothing', async (...settings) => {
    const options = settings.map((setting) => `-c ${setting}`).join(' ')
    for (const n of [0, 1]) await expectAllKept(wayOf(postgresWays(await open(), { options }), n).storage)
  })

  test.each(['default_transaction_read_only=on', 'search_path=information_schema'])(
    'sessions with %s change nothing',
    async (setting) => {
      const host = await open()

      await expectAllKept(host.storage(host.pool({ options: `-c ${setting}` }), { schema: 'public' }))
    },
  )

  test.each(PG_REFUSED)('connections with %s are refused, with the fix', async (_, config, fix, ways) => {
    for (const n of ways) {
      const { storage } = wayOf(postgresWays(await open(), config), n)

      await expect(pin(storage, BOARD, '1')).rejects.toThrow(fix)
      await expect(Promise.resolve(storage.events.read({ after: undefined, limit: 1 }))).rejects.toThrow(TypeError)
      await expect(storage.migrate()).rejects.toThrow(TypeError)
    }
  })

  test.each(['float8', 'text'])('a parser of %s changes nothing on a pool of pg', async (type) => {
    const host = await open()
    const parser = type === 'text' ? parsing(25, (value) => value.trim()) : parsing(701, (value) => value)

    await expectAllKept(host.storage(host.pool(parser)))
  })

  test('a pool that forgets what is prepared changes nothing', async () => {
    const host = await open()
    const pool = host.pool({ max: 2 })
    pool.on(
      'release',
      (_error: Error | undefined, client: pg.PoolClient) => void client.query('discard all').catch(() => undefined),
    )

    await expectAllKept(host.storage(pool))
  })

  leftOpen(open, Object.keys(NEXT), overPool, [
    ['begin'],
    ['begin isolation level serializable'],
    ['begin read only'],
    ['begin', 'insert into host_notes values (1)'],
    ['begin', 'select 1 / 0'],
  ])

  // Reads do not look: what was left open may be read too.
  leftOpen(open, ['change', 'snapshot'], overOlderPool, [['begin'], ['begin', 'insert into host_notes values (1)']])

  test('a pool on which nothing is left open makes the server log no warning', async () => {
    const host = await open()
    const notices: unknown[] = []
    const pool = host.pool({ max: 1 })
    pool.on('connect', (client) => void client.on('notice', (notice) => notices.push(notice)))
    const storage = host.storage(pool)
    for (const next of Object.values(NEXT)) await next(anyHost(storage), '1')

    expect(notices).toEqual([])
  })
})

onMariadb((open) => {
  test.each(Object.entries(POOL_OPTIONS))('a pool with %s changes nothing', async (_, options) => {
    for (const n of [0, 1]) await expectAllKept(wayOf(mariadbWays(await open(), options), n).storage)
  })

  test.each(Object.entries(ONLY_POOL_OPTIONS))('a pool of mysql2 with %s changes nothing', async (_, options) => {
    const host = await open()

    await expectAllKept(host.storage(host.pool(options)))
  })

  test.each(STATEMENTS)('connections with %s change nothing', async (statement) => {
    for (const n of [0, 1]) await expectAllKept(wayOf(mariadbWays(await open(), {}, statement), n).storage)
  })

  test.each(ONLY_POOL_STATEMENTS)('connections of mysql2 with %s change nothing', async (statement) => {
    const host = await open()

    await expectAllKept(host.storage(host.pool({}, statement)))
  })

  test.each(KYSELY_REFUSED)('a Kysely with %j and %s is refused, with the fix', async (options, statement, fix) => {
    const { storage } = wayOf(mariadbWays(await open(), options, statement), 1)

    await expect(pin(storage, BOARD, '1')).rejects.toThrow(fix)
    await expect(storage.migrate()).rejects.toThrow(TypeError)
  })

  test.each(['sql_safe_updates = 1', 'autocommit = 0'])(
    'a transaction of the host with %s changes nothing',
    async (setting) => {
      const host = await open()
      const transaction = await host.begun(setting)
      const storage = host.storage()
      for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId, { transaction })
      await block(storage, '20', '30', { transaction })
      await define(storage, 'owl', { transaction })
      await grant(storage, '30', ['owl'], { transaction })
      await retire(storage, { thing: 'user', userId: '30' }, { transaction })
      await retire(storage, { thing: 'issue', issueId: '2', repositoryId: '10', kind: 'issue' }, { transaction })
      await transaction.commit()

      expect([await issuesOn(storage, BOARD), await blocksOf(storage, '20')]).toEqual([['1', '3'], []])
    },
  )

  test('connections that do not commit by themselves migrate for all', async () => {
    const host = await open()
    const options = { prefix: 'mine_' }
    const pool = host.pool({}, 'set autocommit = 0')
    const storages = [host.storage(pool, options), host.storage(pool, options)]
    await Promise.all(storages.map((storage) => storage.migrate()))
    await expectAllKept(anyHost(host.storage(pool, options)))

    expect((await host.storage(host.url, options).schemaStatus()).state).toBe('current')
  })

  test('connections go back as they were', async () => {
    const host = await open()
    const pool = host.pool({ connectionLimit: 1 }, "set sql_mode = '', innodb_lock_wait_timeout = 1")
    await pool.query('select 1') // the statement has been run then
    const settings = async () => {
      const [rows] = await pool.query('show session variables')
      const all = Array.isArray(rows) ? rows.map((row) => Object.values({ ...row })) : []
      return all.filter(([name]) => !CHANGING.test(String(name)))
    }
    const before = await settings()
    expect(before.length).toBeGreaterThan(100)
    await expectAllKept(host.storage(pool))

    expect(await settings()).toEqual(before)
  })

  test.each(REFUSED)('connections with %j and %s are refused, with the fix', async (options, statement, fix) => {
    for (const n of [0, 1]) {
      const { storage } = wayOf(mariadbWays(await open(), options, statement), n)

      await expect(pin(storage, BOARD, '1')).rejects.toThrow(fix)
      await expect(issuesOn(storage, BOARD)).rejects.toThrow(TypeError)
    }
  })

  leftOpen(open, Object.keys(NEXT), (host) => wayOf(mariadbWays(host, { connectionLimit: 1 }), 0), [
    ['start transaction'],
    ['start transaction', 'insert into host_notes values (1)'],
    ['set autocommit = 0', 'insert into host_notes values (1)'],
  ])
})

/** Settings of a session that change by themselves. */
const CHANGING = /^(timestamp|last_|gtid_|insert_id|rand_|warning_count|error_count|identity|in_transaction)/

/** What the storage does next on a connection. */
const NEXT: Readonly<Record<string, (storage: ForgeStorage<never>, issueId: string) => Promise<unknown>>> = {
  read: (storage) => issuesOn(storage, BOARD),
  change: (storage, issueId) => pin(storage, { ...BOARD, repositoryId: '11' }, issueId),
  snapshot: (storage) => blocksOf(storage, '20'),
}

/** What a host leaves open on the one connection of its pool, and what the storage does next there. */
function leftOpen<Host extends PostgresHost | MariadbHost>(
  open: () => Promise<Host>,
  calls: readonly string[],
  wayOn: (host: Host) => Way,
  left: readonly (readonly string[])[],
): void {
  test.each(calls)(`a transaction that the host left open is rolled back before a %s (${wayOn.name})`, async (call) => {
    const host = await open()
    await host.run('create table host_notes (id int)')
    const { storage, query } = wayOn(host)
    await issuesOn(storage, BOARD)
    for (const [n, statements] of left.entries()) {
      for (const text of statements) await query(text).catch(() => undefined) // one of them is to fail
      await NEXT[call]?.(storage, `${n}`)
    }

    expect(await host.run('select id from host_notes')).toEqual([])
  })
}

function overPool(host: PostgresHost): Way {
  return wayOf(postgresWays(host, { max: 1 }), 0)
}

function postgresWays(host: PostgresHost, config: pg.PoolConfig): readonly Way[] {
  const pool = host.pool(config)
  return [
    { name: 'pg', storage: anyHost(host.storage(pool)), query: (text) => pool.query(text) },
    overKysely(postgresStorage, postgresKysely(host.url, config)),
  ]
}

/** One of the ways: what a test keeps fills a database. */
function wayOf(ways: readonly Way[], n: number): Way {
  const way = ways[n]
  if (way === undefined) throw new TypeError('there are two ways')
  return way
}

/** Over clients without a status, as in older versions of pg. */
function overOlderPool(host: PostgresHost): Way {
  const pool = host.pool({ max: 1 })
  const older: PgPool = {
    query: (query) => pool.query(query),
    async connect() {
      const client = await pool.connect()
      return { query: (query) => client.query(query), release: (destroy) => client.release(destroy) }
    },
  }
  return { name: 'an older pg', storage: anyHost(postgresStorage(older)), query: (text) => pool.query(text) }
}

function mariadbWays(host: MariadbHost, options: PoolOptions, statement?: string): readonly Way[] {
  const pool = host.pool(options, statement)
  return [
    { name: 'mysql2', storage: anyHost(host.storage(pool)), query: (text) => pool.query(text) },
    overKysely(mariadbStorage, mariadbKysely(host.url, options, statement)),
  ]
}

function overKysely(
  open: (database: KyselyDatabase) => ForgeStorage<KyselyExecutor>,
  kysely: ReturnType<typeof postgresKysely>,
): Way {
  onTestFinished(() => kysely.destroy())
  return {
    name: 'Kysely',
    storage: anyHost(open(kysely)),
    query: (text) => sql.raw<HostTables>(text).execute(kysely),
  }
}

/** These tests hand a storage no transaction. */
function anyHost<Tx>(storage: ForgeStorage<Tx>): ForgeStorage<never> {
  return storage as unknown as ForgeStorage<never>
}
