import type { PoolOptions } from 'mysql2/promise'
import { expect, test } from 'vitest'
import { blocksOf, issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { LATER } from '../../../../src/testing/storage-contract/cases/prune-samples.ts'
import { BOARD, block, pin, retire } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { expectAllKept, LARGE_IDS } from '../all-kept.ts'
import type { HostDatabase } from './host-database.ts'
import { onMariadb } from './host-database.ts'

const TEXT_IDS = { user: 'text', organization: 'text', repository: 'text', issue: 'text' } as const

/** What hosts set on a pool for their own sake. */
const OPTIONS: Readonly<Record<string, PoolOptions>> = {
  'large numbers as texts': { supportBigNumbers: true, bigNumberStrings: true },
  'decimals as numbers': { decimalNumbers: true },
  'times as texts, of another zone': { dateStrings: true, timezone: '+05:30' },
  'no reading of types': { typeCast: false },
  'a reader of types': { typeCast: (field, next) => (field.type === 'DOUBLE' ? field.string() : [next()]) },
  'rows as lists': { rowsAsArray: true },
  'tables as objects': { nestTables: true },
  'tables before names': { nestTables: '_' },
  'named placeholders': { namedPlaceholders: true },
  'several statements at once': { multipleStatements: true },
  'another collation': { charset: 'UTF8MB4_BIN' },
  'a collation that treats different texts as equal': { charset: 'UTF8MB4_GENERAL_CI' },
  'one connection': { connectionLimit: 1 },
  'a reset of each connection': { resetOnRelease: true },
}

/** What hosts set on each connection. */
const STATEMENTS: readonly string[] = [
  "set sql_mode = ''",
  "set sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE,HIGH_NOT_PRECEDENCE'",
  "set sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION,REAL_AS_FLOAT,ONLY_FULL_GROUP_BY'",
  "set sql_mode = 'NO_ZERO_DATE,NO_AUTO_VALUE_ON_ZERO,SIMULTANEOUS_ASSIGNMENT,STRICT_ALL_TABLES,TRADITIONAL'",
  "set sql_mode = 'ORACLE'",
  'set autocommit = 0',
  'set completion_type = CHAIN',
  'set session transaction isolation level serializable',
  'set session transaction read only',
  'set innodb_lock_wait_timeout = 1, max_statement_time = 20',
  "set collation_connection = utf8mb4_turkish_ci, time_zone = '-11:00', lc_messages = 'de_DE'",
  'set foreign_key_checks = 0, unique_checks = 0, sql_safe_updates = 1, sql_select_limit = 1, sql_big_selects = 0, max_join_size = 1',
]

onMariadb((open) => {
  test.each(Object.entries(OPTIONS))('a pool with %s changes nothing', async (_, options) => {
    const database = await open()

    await expectAllKept(database.storage(database.pool(options)))
  })

  test.each(STATEMENTS)('connections with %s change nothing', async (statement) => {
    const database = await open()

    await expectAllKept(database.storage(settingPool(database, statement)))
  })

  test.each(STATEMENTS)('a connection with %s reads what others have committed', async (statement) => {
    const database = await open()
    const storage = database.storage(settingPool(database, statement, 1))
    const others = database.storage()
    await pin(storage, BOARD, '1')
    await blocksOf(storage, '20')
    const before = await issuesOn(storage, BOARD)
    await pin(others, BOARD, '2')
    await block(others, '20', '30')

    expect([before, await issuesOn(storage, BOARD), (await blocksOf(storage, '20')).length]).toEqual([
      ['1'],
      ['1', '2'],
      1,
    ])
  })

  test.each(STATEMENTS)('connections keep %s', async (statement) => {
    const database = await open()
    const pool = settingPool(database, statement, 1)
    await pool.query('select 1') // the statement has been run then
    const before = await settingsOf(pool)
    await expectAllKept(database.storage(pool))

    expect(await settingsOf(pool)).toEqual(before)
  })

  test.each(['UTF8MB4_BIN', 'UTF8MB4_GENERAL_CI'])('ids are texts, and events pruned, beside %s', async (charset) => {
    const database = await open()
    const storage = database.storage(database.pool({ charset }), { prefix: 'texts_', ids: TEXT_IDS })
    await storage.migrate()
    await expectAllKept(storage)
    await retire(storage, { thing: 'repository', repositoryId: BOARD.repositoryId })

    expect(await storage.events.prune(LATER)).toBeGreaterThan(LARGE_IDS.length)
    expect(await storage.events.history(LARGE_IDS[0] ?? '')).toEqual([])
  })

  test('a database of another character set changes nothing', async () => {
    const database = await open()
    await database.run(`alter database ${database.name} character set latin1 collate latin1_swedish_ci`)
    const storage = database.storage(undefined, { prefix: 'beside_' })
    await storage.migrate()

    await expectAllKept(storage)
  })
})

/** Runs a statement on each connection, before anything else is. */
function settingPool(database: HostDatabase, statement: string, connectionLimit = 8) {
  const pool = database.pool({ connectionLimit })
  pool.on('connection', (connection) => void connection.query(statement))
  return pool
}

async function settingsOf(pool: ReturnType<HostDatabase['pool']>): Promise<unknown> {
  const [rows] = await pool.query(
    'set statement sql_big_selects = 1, sql_select_limit = 9999 for show session variables',
  )
  const settings = Array.isArray(rows) ? rows.map((row) => Object.values({ ...row })) : []
  const ours = settings.filter(
    ([name]) =>
      !/^(timestamp|last_|gtid_|insert_id|rand_|warning_count|error_count|identity|in_transaction)/.test(String(name)),
  )
  expect(ours.length).toBeGreaterThan(100)
  return ours
}
