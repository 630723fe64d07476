import Database from 'better-sqlite3'
import { CamelCasePlugin, Kysely, SqliteDialect } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { kyselyStorage } from '../../../../src/storage/kysely.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/testing.ts'
import type { HostTables } from '../../kysely-kinds.ts'
import { heldOpen, sqliteKysely } from '../../kysely-kinds.ts'

describe('a storage over Kysely', () => {
  test.each([undefined, null, 'postgres://example.com/forge', {}, { transaction: 1 }, { connection() {} }])(
    'is not made over %s',
    (database) => {
      expect(() => Reflect.apply(kyselyStorage, undefined, [database, { dialect: 'sqlite' }])).toThrow(/needs a Kysely/)
    },
  )

  test('is not made over a transaction', async () => {
    const { transaction, rollback } = await heldOpen(aKysely().transaction())

    expect(() => kyselyStorage(transaction, { dialect: 'sqlite' })).toThrow(/that is not a transaction/)
    await rollback()
  })

  test.each([undefined, 'mssql', 'mariadb', null, 7])('is not made for the dialect %s', (dialect) => {
    expect(() => Reflect.apply(kyselyStorage, undefined, [aKysely(), { dialect }])).toThrow(
      /dialect must be postgres, mysql or sqlite/,
    )
  })

  test.each([undefined, null, 'sqlite'])('is not made with %s for its options', (options) => {
    expect(() => Reflect.apply(kyselyStorage, undefined, [aKysely(), options])).toThrow(
      new TypeError('kyselyStorage needs { dialect }: postgres, mysql or sqlite'),
    )
  })

  test.each(['postgres', 'mysql'] as const)('says so where the dialect %s was named over SQLite', async (dialect) => {
    const storage = kyselyStorage(aKysely(), { dialect })

    await expect(storage.migrate()).rejects.toThrow(TypeError)
    await expect(issuesOn(storage, BOARD)).rejects.toThrow(/has another dialect: set dialect to/)
  })

  test.each(['mysql', 'sqlite'] as const)('has no schema on %s', (dialect) => {
    expect(() => kyselyStorage(aKysely(), { dialect, schema: 'forge' })).toThrow('only PostgreSQL has schemas')
  })
})

describe('withTransaction', () => {
  test('is refused on a Kysely that is not a transaction', async () => {
    const { storage, kysely } = await opened()
    const entered = Promise.resolve(Reflect.apply(storage.checkTransaction, storage, [kysely]))

    await expect(entered).rejects.toThrow('must be an open Transaction of Kysely')
    await expect(entered).rejects.toThrow(TypeError)
  })

  test('is refused on a transaction of another Kysely', async () => {
    const { storage } = await opened()
    const { transaction, rollback } = await heldOpen(aKysely().transaction())

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toThrow(/from the Kysely of the storage/)
    await rollback()
  })

  test('is made on whatever comes from the storage’s Kysely: with plugins, schemas, and ended by hand', async () => {
    const { storage, kysely } = await opened()
    const transaction = await kysely.withPlugin(new CamelCasePlugin()).withSchema('main').startTransaction().execute()
    await pin(storage, BOARD, '1', { transaction: transaction.withSchema('temp').withPlugin(new CamelCasePlugin()) })
    await transaction.commit().execute()

    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })

  test('takes turns with another by way of another object for the same transaction', async () => {
    const { storage, kysely } = await opened()
    const { transaction, commit } = await heldOpen(kysely.transaction())
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4, 5, 6].map((id) =>
        pin(storage, BOARD, String(id), {
          transaction: id % 2 === 0 ? transaction : transaction.withSchema('main'),
          limit: id === 3 ? 0 : 9,
        }),
      ),
    )
    await commit()

    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true, true])
    expect(await issuesOn(storage, BOARD)).toEqual(['1', '2', '4', '5', '6'])
  })
})

describe('a host’s driver', () => {
  test('may give integers as bigint', async () => {
    const handle = new Database(':memory:')
    handle.defaultSafeIntegers(true)
    const { storage } = await opened(new Kysely({ dialect: new SqliteDialect({ database: handle }) }))
    await pin(storage, BOARD, '9007199254740993')
    const [row] = await storage.pinBoards.load(BOARD)

    expect([row?.issueId, row?.pinnedAt]).toEqual(['9007199254740993', expect.any(Date)])
    expect((await storage.events.list({}, { from: { page: 1 }, limit: 1 })).total).toBe(1)
  })

  test('is refused when it gives columns other names', async () => {
    const handle = new Database(':memory:')
    const prepare = (text: string) => handle.prepare(text.replace(/ as "?\w+"?/g, (name) => name.toUpperCase()))
    const dialect = new SqliteDialect({ database: { close: () => void handle.close(), prepare } })

    await expect(opened(new Kysely({ dialect }))).rejects.toThrow(/strings and names unchanged/)
  })
})

async function opened(kysely = aKysely()) {
  const storage = kyselyStorage(kysely, { dialect: 'sqlite' })
  await storage.migrate()
  return { kysely, storage }
}

function aKysely(): Kysely<HostTables> {
  const kysely = sqliteKysely(':memory:')
  onTestFinished(() => kysely.destroy())
  return kysely
}
