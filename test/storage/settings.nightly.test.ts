import type { PoolOptions } from 'mysql2'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { copyForge } from '../../src/storage/copy.ts'
import type { PgPool } from '../../src/storage/postgres.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { define, grant } from '../../src/testing/storage-contract/samples/badges.ts'
import { block, blocksOf } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { retire } from '../../src/testing/storage-contract/samples/retirements.ts'
import { pinned, WORLD } from '../cli/small-world.ts'
import { OWN_MARIADB, onOwnServer } from '../durability/own-server.ts'
import { runForgelet, startForgelet } from '../start-forgelet.ts'
import { expectAllKept, LARGE_IDS } from './all-kept.ts'
import { onMariadb, onPostgres } from './driver-hosts.ts'

/** How pg reads a value, as hosts replace it for all queries. */
const parsing = (type: number, parser: (value: string) => unknown): pg.PoolConfig => ({
  types: {
    getTypeParser: (oid: number, format?: unknown) =>
      oid === type ? parser : pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text'),
  },
})

/** What a role, a database or a pool may set for every session of PostgreSQL. */
const POSTGRES_SETTINGS: readonly string[] = [
  'default_transaction_isolation=serializable standard_conforming_strings=off transform_null_equals=on',
  'default_transaction_isolation=repeatable\\ read backslash_quote=on quote_all_identifiers=on',
  'extra_float_digits=0 DateStyle=German IntervalStyle=sql_standard TimeZone=Pacific/Kiritimati',
  'default_transaction_deferrable=on bytea_output=escape lc_messages=C client_min_messages=debug5',
  'lock_timeout=20s statement_timeout=20s idle_in_transaction_session_timeout=20s synchronous_commit=off',
  'plan_cache_mode=force_generic_plan enable_seqscan=off jit_above_cost=0 row_security=off',
  'default_transaction_read_only=on search_path=information_schema',
]

/** What makes connections to PostgreSQL unfit, and what the storage says. */
const PG_REFUSED: readonly (readonly [string, pg.PoolConfig & { readonly binary?: boolean }, RegExp])[] = [
  ['extra_float_digits = -1', { options: '-c extra_float_digits=-1' }, /extra_float_digits/],
  ['binary', { binary: true }, /binary/],
]

/** What hosts set on a pool of mysql2 for their own sake. */
const POOL_OPTIONS: Readonly<Record<string, PoolOptions>> = {
  'large numbers as texts': { supportBigNumbers: true, bigNumberStrings: true },
  'decimals as numbers': { decimalNumbers: true },
  'times as texts, of another zone': { dateStrings: true, timezone: '+05:30' },
  'named placeholders': { namedPlaceholders: true },
  'several statements at once': { multipleStatements: true },
  'one connection': { connectionLimit: 1 },
  'a reset of each connection': { resetOnRelease: true },
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
  "set sql_mode = 'NO_ZERO_DATE,NO_AUTO_VALUE_ON_ZERO,SIMULTANEOUS_ASSIGNMENT,STRICT_ALL_TABLES'",
  "set sql_mode = 'ORACLE'",
  'set session transaction isolation level serializable',
  'set innodb_lock_wait_timeout = 1, max_statement_time = 20',
  'set sql_safe_updates = 1',
  'set autocommit = 0',
  'set session transaction read only',
  "set collation_connection = utf8mb4_turkish_ci, time_zone = '-11:00', lc_messages = 'de_DE'",
]

/** What makes connections to MariaDB unfit, and what the storage says. */
const REFUSED: readonly (readonly [PoolOptions, string | undefined, RegExp])[] = [
  [{}, "set sql_mode = 'NO_BACKSLASH_ESCAPES'", /remove NO_BACKSLASH_ESCAPES from its sql_mode/],
  [{}, "set sql_mode = 'ANSI_QUOTES,EMPTY_STRING_IS_NULL'", /remove EMPTY_STRING_IS_NULL from its sql_mode/],
  [{ charset: 'LATIN1_SWEDISH_CI' }, undefined, /uses latin1.*utf8mb4/],
  [{ charset: 'UTF8' }, undefined, /uses utf8mb3.*utf8mb4/],
]

/** What a server may have that is not what MariaDB has by itself. */
const SERVER_SETTINGS = [
  'sql-safe-updates=1',
  'sql-mode=ORACLE,NO_ZERO_DATE',
  'character-set-server=latin1',
  'transaction-isolation=SERIALIZABLE',
  'innodb-snapshot-isolation=1',
  'innodb-force-primary-key=1',
  'default-time-zone=-11:00',
]

/** Settings of a session that change by themselves. */
const CHANGING = /^(timestamp|last_|gtid_|insert_id|rand_|warning_count|error_count|identity|in_transaction)/

onPostgres((open) => {
  test.each(POSTGRES_SETTINGS)('sessions with %s change nothing', async (settings) => {
    const host = await open()
    const options = settings.replaceAll(/(?<!\\) |^/g, ' -c ')

    const storage = host.storage(host.pool({ options }), { schema: 'public' })
    await expectAllKept(storage)
    const other = await open()
    await expectCopied(storage, other.storage(other.pool({ options }), { schema: 'public' }))
  })

  test('tables of the host fit where the server quotes every name', async () => {
    const host = await open()
    await host.run('create table users (id uuid primary key, name text)')
    await host.run('create table orgs (id text primary key, name text)')
    const storage = host.storage(host.pool({ options: '-c quote_all_identifiers=on' }), {
      prefix: 'mine_',
      ids: { user: 'uuid', organization: 'text' },
      tables: { users: { table: 'users' }, organizations: { table: 'orgs' } },
    })
    await storage.migrate()

    expect((await storage.schemaStatus()).state).toBe('current')
  })

  test.each(PG_REFUSED)('connections with %s are refused, with the fix', async (_, config, fix) => {
    const host = await open()
    const storage = host.storage(host.pool(config))

    await expect(pin(storage, BOARD, '1')).rejects.toThrow(fix)
    await expect(Promise.resolve(storage.events.read({ after: undefined, limit: 1 }))).rejects.toThrow(TypeError)
    await expect(storage.migrate()).rejects.toThrow(TypeError)
  })

  test.each([
    ['float8', parsing(701, (value) => value)],
    ['text', parsing(25, (value) => value.trim())],
  ])('a parser of %s changes nothing', async (_type, parser) => {
    const host = await open()

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

  test.each(['pg', 'an older pg'])(
    'what the host left open is rolled back before what comes next, on %s',
    async (name) => {
      const host = await open()
      const pool = host.pool({ max: 1 })
      const storage = name === 'pg' ? anyHost(host.storage(pool)) : anyHost(postgresStorage(withoutStatus(pool)))
      // On an older pg reads do not look: what was left open may be read too.
      await expectRolledBack(host, storage, (text) => pool.query(text), name === 'pg' ? NEXT : NEXT.slice(1), [
        ['begin'],
        ['begin isolation level serializable'],
        ['begin', 'insert into host_notes values (1)'],
        ...(name === 'pg' ? [['begin read only'], ['begin', 'select 1 / 0']] : []),
      ])
    },
  )

  test('a pool on which nothing is left open makes the server log no warning', async () => {
    const host = await open()
    const notices: unknown[] = []
    const pool = host.pool({ max: 1 })
    pool.on('connect', (client) => void client.on('notice', (notice) => notices.push(notice)))
    const storage = host.storage(pool)
    for (const next of NEXT) await next(anyHost(storage), '1')

    expect(notices).toEqual([])
  })
})

onMariadb((open) => {
  test.each(Object.entries(POOL_OPTIONS))('a pool with %s changes nothing', async (_, options) => {
    const host = await open()

    await expectAllKept(host.storage(host.pool(options)))
  })

  test.each(STATEMENTS)('connections with %s change nothing, and a copy over them is complete', async (statement) => {
    const [host, other] = [await open(), await open()]
    const storage = host.storage(host.pool({}, statement))
    await expectAllKept(storage)
    // Only a database that can be written takes a copy.
    if (!statement.endsWith('read only')) await expectCopied(storage, other.storage(other.pool({}, statement)))
  })

  test.each(REFUSED)('connections with %j and %s are refused, with the fix', async (options, statement, fix) => {
    const host = await open()
    const storage = host.storage(host.pool(options, statement))

    await expect(pin(storage, BOARD, '1')).rejects.toThrow(fix)
    await expect(issuesOn(storage, BOARD)).rejects.toThrow(TypeError)
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

  test('what the host left open is rolled back before what comes next', async () => {
    const host = await open()
    const pool = host.pool({ connectionLimit: 1 })
    await expectRolledBack(host, anyHost(host.storage(pool)), (text) => pool.query(text), NEXT, [
      ['start transaction'],
      ['start transaction', 'insert into host_notes values (1)'],
      ['set autocommit = 0', 'insert into host_notes values (1)'],
    ])
  })
})

onOwnServer(OWN_MARIADB, (start) => {
  test('the ready server and its commands run on a MariaDB whose settings are others', async () => {
    const server = await start()
    onTestFinished(() => server.drop())
    await server.kill()
    await server.start(SERVER_SETTINGS)
    const { url } = await startForgelet(['--db', server.url], { fixture: WORLD })
    expect(await pinned(url)).toEqual([2])

    expect(await runForgelet(['user', 'create', 'rosa', '--db', server.url])).toMatchObject({ code: 0 })
    expect(await runForgelet(['repo', 'create', 'rosa/notes', '--db', server.url])).toMatchObject({ code: 0 })
  })
})

/** Copies a storage, which `expectAllKept` has filled, into an empty one. */
async function expectCopied<Tx>(from: ForgeStorage<Tx>, to: ForgeStorage<Tx>): Promise<void> {
  await copyForge(from, to)

  expect((await to.schemaStatus()).state).toBe('current')
  expect(await issuesOn(to, BOARD)).toEqual(LARGE_IDS)
  expect(await blocksOf(to, '20')).toEqual(await blocksOf(from, '20'))
}

/** What the storage does next on a connection: a read, a change, and a read of a snapshot. */
const NEXT: readonly ((storage: ForgeStorage<never>, issueId: string) => Promise<unknown>)[] = [
  (storage) => issuesOn(storage, BOARD),
  (storage, issueId) => pin(storage, { ...BOARD, repositoryId: '11' }, issueId),
  (storage) => blocksOf(storage, '20'),
]

/** Leaves these statements on the one connection of a pool of the host, before each of what the storage does next. */
async function expectRolledBack(
  host: { run(sql: string): Promise<unknown> },
  storage: ForgeStorage<never>,
  query: (text: string) => Promise<unknown>,
  next: typeof NEXT,
  left: readonly (readonly string[])[],
): Promise<void> {
  await host.run('create table host_notes (id int)')
  await issuesOn(storage, BOARD)
  for (const call of next) {
    for (const [n, statements] of left.entries()) {
      for (const text of statements) await query(text).catch(() => undefined) // one of them is to fail
      await call(storage, `${n}`)
      expect(await host.run('select id from host_notes')).toEqual([])
    }
  }
}

/** Clients without a status, as in older versions of pg. */
function withoutStatus(pool: pg.Pool): PgPool {
  return {
    query: (query) => pool.query(query),
    async connect() {
      const client = await pool.connect()
      return { query: (query) => client.query(query), release: (destroy) => client.release(destroy) }
    },
  }
}

/** These tests hand a storage no transaction. */
function anyHost<Tx>(storage: ForgeStorage<Tx>): ForgeStorage<never> {
  return storage as unknown as ForgeStorage<never>
}
