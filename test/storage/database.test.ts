import { expect, test } from 'vitest'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { SQLITE } from '../databases.ts'
import { databaseSuite } from './database-suite.ts'

databaseSuite([SQLITE])

test('answers at once on SQLite, and refuses a promise there', async () => {
  const { database } = sqliteStorage(':memory:')

  expect(database.rows({ sql: 'select ? as one', parameters: [1] })).toEqual([{ one: 1 }])
  await expect(database.transaction(async () => undefined)).rejects.toThrow('a promise was returned')
})
