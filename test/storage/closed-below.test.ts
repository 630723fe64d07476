import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { outcomeOf } from '../../src/testing/testing.ts'

// connections.servers.test.ts has the same of pools.
const CLOSED = { thrown: { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done', closed: true } } }
const consumer = { name: 'mail', holder: 'one' }

test('a handle in memory that the host has closed is closed for every later call', async () => {
  const handle = new Database(':memory:')
  const storage = sqliteStorage(handle)
  await storage.migrate()
  handle.close()

  expect(await outcomeOf(() => storage.events.claim(consumer, 1000))).toMatchObject(CLOSED)
})
