import type { PoolOptions } from 'mysql2'
import { expect, onTestFinished, test } from 'vitest'
import { kyselyStorage } from '../../../../src/storage/kysely.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { mariadbKysely } from '../../databases/kysely-mariadb.ts'
import { expectAllKept } from '../all-kept.ts'
import type { HostDatabase } from '../mysql/host-database.ts'
import { onMariadb } from '../mysql/host-database.ts'

/** What hosts set on a pool for their own sake. */
const OPTIONS: Readonly<Record<string, PoolOptions>> = {
  'large numbers as texts': { supportBigNumbers: true, bigNumberStrings: true },
  'decimals as numbers': { decimalNumbers: true },
  'times as texts, of another zone': { dateStrings: true, timezone: '+05:30' },
  'named placeholders': { namedPlaceholders: true },
  'several statements at once': { multipleStatements: true },
  'another collation': { charset: 'UTF8MB4_BIN' },
  'one connection': { connectionLimit: 1 },
  'a reset of each connection': { resetOnRelease: true },
}

/** What cannot be said with a query of Kysely's. */
const UNREADABLE: Readonly<Record<string, PoolOptions>> = {
  'no reading of types': { typeCast: false },
  'doubles as texts': { typeCast: (field, next) => (field.type === 'DOUBLE' ? field.string() : next()) },
}

/** What hosts set on each connection. */
const STATEMENTS: readonly string[] = [
  "set sql_mode = ''",
  "set sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,IGNORE_SPACE,HIGH_NOT_PRECEDENCE'",
  "set sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION,REAL_AS_FLOAT,ONLY_FULL_GROUP_BY'",
  'set autocommit = 0',
  'set session transaction isolation level serializable',
  'set innodb_lock_wait_timeout = 1, max_statement_time = 20',
  'set foreign_key_checks = 0, unique_checks = 0, sql_safe_updates = 1, sql_select_limit = 1, sql_big_selects = 0, max_join_size = 1',
]

onMariadb((open) => {
  test.each(Object.entries(OPTIONS))('a pool with %s changes nothing', async (_, options) => {
    await expectAllKept(storageOn(await open(), options))
  })

  test.each(STATEMENTS)('connections with %s change nothing', async (statement) => {
    await expectAllKept(storageOn(await open(), {}, statement))
  })

  test.each(Object.entries(UNREADABLE))('a pool with %s is refused, with the fix', async (_, options) => {
    const storage = storageOn(await open(), options)

    await expect(pin(storage, BOARD, '1')).rejects.toThrow(/returns doubles as numbers/)
    await expect(pin(storage, BOARD, '1')).rejects.toThrow(TypeError)
  })

  test('connections on which a quote could end a text are refused', async () => {
    const storage = storageOn(await open(), {}, "set sql_mode = 'NO_BACKSLASH_ESCAPES'")

    await expect(pin(storage, BOARD, '1')).rejects.toThrow(/remove NO_BACKSLASH_ESCAPES from sql_mode/)
  })

  test('connections on which a COMMIT begins another transaction are refused', async () => {
    const storage = storageOn(await open(), {}, 'set completion_type = CHAIN')

    await expect(storage.pinBoards.load(BOARD)).rejects.toThrow(/set it to NO_CHAIN/)
  })

  test('connections that are not utf8mb4 are refused', async () => {
    const storage = storageOn(await open(), { charset: 'LATIN1_SWEDISH_CI' })

    await expect(pin(storage, BOARD, '1')).rejects.toThrow(/uses latin1/)
  })

  test('a transaction left open on a connection without autocommit is neither read nor committed', async () => {
    const database = await open()
    await database.run('create table host_notes (id int primary key)')
    const kysely = kyselyOn(database, { connectionLimit: 1 }, 'set autocommit = 0')
    const storage = kyselyStorage(kysely, { dialect: 'mysql' })
    await kysely.insertInto('host_notes').values({ id: 1 }).execute()
    await storage.pinBoards.load(BOARD)

    expect(await database.run('select id from host_notes')).toEqual([])
  })
})

function storageOn(database: HostDatabase, options: PoolOptions, statement?: string) {
  return kyselyStorage(kyselyOn(database, options, statement), { dialect: 'mysql' })
}

/** Runs a statement on each connection, before anything else is. */
function kyselyOn(database: HostDatabase, options: PoolOptions, statement?: string) {
  const kysely = mariadbKysely(database.url, { connectionLimit: 8, ...options }, statement)
  onTestFinished(() => kysely.destroy())
  return kysely
}
