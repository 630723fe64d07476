import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqlite, sqliteStorage } from '../../src/storage/sqlite.ts'
import { newFile } from './sql/database-files.ts'

describe('an SQLite storage', () => {
  test.each(['', 'Forge_', '1a', 'a-b', 'a b', 'a"', 'sqlite_', 'a'.repeat(32)])(
    'refuses the prefix "%s"',
    (prefix) => {
      expect(() => sqliteStorage(':memory:', { prefix })).toThrow(TypeError)
    },
  )

  test.each(['a', 'forge_2_', 'a'.repeat(31)])('takes the prefix %s', async (prefix) => {
    const storage = sqliteStorage(':memory:', { prefix })
    await storage.migrate()

    expect((await storage.schemaStatus()).state).toBe('current')
    await storage.close()
  })

  test('refuses an empty file name, which would be a database that is lost when it is closed', () => {
    expect(() => sqliteStorage('')).toThrow(TypeError)
  })

  test.each([undefined, null, 7, {}, { prepare: 1, exec: 2 }])('refuses %s for a database', (database) => {
    expect(() => Reflect.apply(sqliteStorage, undefined, [database])).toThrow(TypeError)
  })

  test.each(['integer', '', null, 'toString'])('refuses %s for the type of an id column', (user) => {
    expect(() => Reflect.apply(sqliteStorage, undefined, [':memory:', { ids: { user } }])).toThrow(/ids\.user/)
  })
})

describe('a file that is opened for a host', () => {
  test('is a handle that a storage accepts, and that reports whether a transaction is open', async () => {
    const handle = openSqlite(newFile())
    const storage = sqliteStorage(handle)
    await storage.migrate()
    handle.exec('begin immediate')
    storage.checkTransaction(handle)
    const inside = handle.inTransaction
    handle.exec('commit')

    expect([inside, handle.inTransaction]).toEqual([true, false])
    await storage.close()
    handle.close()
  })

  test('in a folder that is not there is STORAGE_UNAVAILABLE without its path', () => {
    expect(() => openSqlite('/no/such/folder/forge.sqlite')).toThrow(
      expect.objectContaining({ code: 'STORAGE_UNAVAILABLE', message: 'the database file cannot be opened' }),
    )
  })
})

test.each<readonly [string, (file: string) => unknown]>([
  ['openSqlite', (file) => openSqlite(file).close()],
  [
    'sqliteStorage',
    async (file) => {
      const storage = sqliteStorage(file)
      await storage.migrate()
      await storage.close()
    },
  ],
])('a name that begins like a URI is that of a file, for %s', async (_name, open) => {
  const folder = dirname(newFile())
  const before = process.cwd()
  process.chdir(folder)
  onTestFinished(() => process.chdir(before))
  await open('file:forge.sqlite')

  expect(existsSync(join(folder, 'file:forge.sqlite'))).toBe(true)
})
