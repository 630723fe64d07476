import { Kysely, PostgresDialect } from 'kysely'
import { describe, expect, test } from 'vitest'
import { kyselyStorage } from '../../../../src/storage/kysely.ts'
import type { HostTables } from '../../kysely-kinds.ts'

// No database: all of this is refused before one is asked.
const kysely = new Kysely<HostTables>({
  dialect: new PostgresDialect({ pool: () => Promise.reject(new Error('there is no database')) }),
})

describe('a storage over Kysely', () => {
  test.each([undefined, null, 'postgres://example.com/forge', {}, { transaction: 1 }, { connection() {} }])(
    'is not made over %s',
    (database) => {
      expect(() => Reflect.apply(kyselyStorage, undefined, [database, { dialect: 'postgres' }])).toThrow(
        /needs a Kysely/,
      )
    },
  )

  test('is not made over a transaction', () => {
    const transaction = Object.create(kysely, { isTransaction: { value: true } })

    expect(() => kyselyStorage(transaction, { dialect: 'postgres' })).toThrow(/that is not a transaction/)
  })

  test.each([undefined, 'mssql', 'mariadb', null, 7])('is not made for the dialect %s', (dialect) => {
    expect(() => Reflect.apply(kyselyStorage, undefined, [kysely, { dialect }])).toThrow(
      "dialect must be 'postgres' or 'mysql'",
    )
  })

  test('is not made for SQLite, whose handle is for another storage', () => {
    expect(() => Reflect.apply(kyselyStorage, undefined, [kysely, { dialect: 'sqlite' }])).toThrow(
      'for SQLite, pass the handle to sqliteStorage',
    )
  })

  test.each([undefined, null, 'postgres'])('is not made with %s for its options', (options) => {
    expect(() => Reflect.apply(kyselyStorage, undefined, [kysely, options])).toThrow(TypeError)
  })

  test('has no schema on MariaDB', () => {
    expect(() => kyselyStorage(kysely, { dialect: 'mysql', schema: 'forge' })).toThrow('only PostgreSQL has schemas')
  })

  test('writes in no Kysely that is not a transaction', async () => {
    const storage = kyselyStorage(kysely, { dialect: 'postgres' })
    const entered = Promise.resolve(Reflect.apply(storage.checkTransaction, storage, [kysely]))

    await expect(entered).rejects.toThrow(
      new TypeError('the transaction must be an open Transaction of Kysely, not a Kysely'),
    )
  })
})
