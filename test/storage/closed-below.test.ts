import Database from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { expect, test } from 'vitest'
import { kyselyStorage } from '../../src/storage/kysely.ts'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import { onServer, SERVERS } from './databases/servers.ts'

/** What the first call answers once the host has ended what the storage stands on. */
const CLOSED = { thrown: { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done', closed: true } } }

const claim = <Tx>({ events }: ForgeStorage<Tx>) => outcomeOf(() => events.claim({ name: 'mail', holder: 'one' }, 1000))

test('a handle in memory that the host has closed is closed for every later call', async () => {
  const handle = new Database(':memory:')
  const storage = sqliteStorage(handle)
  await storage.migrate()
  handle.close()

  expect(await claim(storage)).toMatchObject(CLOSED)
})

test('a Kysely that the host has destroyed is closed for every later call', async () => {
  const kysely = new Kysely({ dialect: new SqliteDialect({ database: new Database(':memory:') }) })
  const storage = kyselyStorage(kysely, { dialect: 'sqlite' })
  await storage.migrate()
  await kysely.destroy()

  expect(await claim(storage)).toMatchObject(CLOSED)
})

onServer(SERVERS.postgres, (url) => {
  test('a pool that the host has ended is closed for every later call', async () => {
    const pool = new pg.Pool({ connectionString: url })
    await pool.end()

    expect(await claim(postgresStorage(pool))).toMatchObject(CLOSED)
  })
})

onServer(SERVERS.mariadb, (url) => {
  test('a pool that the host has ended is closed for every later call', async () => {
    const pool = createPool(url)
    await pool.end()

    expect(await claim(mysqlStorage(pool))).toMatchObject(CLOSED)
  })
})
