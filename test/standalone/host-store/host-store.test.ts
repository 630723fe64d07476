import { expect, onTestFinished, test } from 'vitest'
import type { HostDatabase } from '../../../src/standalone/host-store/host-database.ts'
import type { HostStore } from '../../../src/standalone/host-store/host-store.ts'
import { MemoryHostStore } from '../../../src/standalone/host-store/memory-host-store.ts'
import { SqlHostStore } from '../../../src/standalone/host-store/sql-host-store.ts'
import { openSqliteDatabase } from '../../../src/standalone/host-store/sqlite-database.ts'
import { newDatabase, SQLITE } from '../../databases.ts'
import { onHostDatabases } from '../host-databases.ts'
import { hostStoreSuite, seed } from './host-store-suite.ts'
import { loadedStore } from './loaded-store.ts'

hostStoreSuite('in memory', async () => {
  const store = new MemoryHostStore()
  store.load(seed)
  return store
})
onHostDatabases([SQLITE], (open) => hostStoreSuite('in tables', () => open<HostStore>(loadedStore)))

async function opened(file = ':memory:', prefix?: string) {
  const database = await openSqliteDatabase(file, prefix)
  onTestFinished(() => database.close())
  return database
}

/** Runs a statement of the host. */
async function run<Tx>(database: HostDatabase<Tx>, sql: string): Promise<readonly object[]> {
  return database.rows<object>({ sql, parameters: [], returnsRows: !sql.startsWith('update') })
}

test('a store in an SQLite database answers in the same tick', async () => {
  const store = await loadedStore(await opened())
  const answers = [
    store.findUserByToken('x'),
    store.findAccount('alice'),
    store.findRepository('acme', 'rocket'),
    store.findIssue('1', 1),
    store.isSiteAdmin('1'),
    store.isMember('6', '2'),
    store.organizationStanding('6', '1'),
    store.repositoryStanding('1', '1'),
    store.accounts(['1']),
    store.issues(['1'], '1'),
  ]
  expect(answers.filter((answer) => answer instanceof Promise)).toEqual([])
})

test('the tables never hold a token', async () => {
  const database = await opened()
  await loadedStore(database)
  const tokens = JSON.stringify(await run(database, 'select * from host_tokens'))
  expect(tokens).toContain('digest')
  expect(tokens).not.toContain('alice-token')
})

test('tables to which a newer release has added are used as they are', async () => {
  const database = await opened()
  await database.migrate()
  await run(database, 'update host_schema set version = 99')
  await database.migrate()
  expect(await run(database, 'select version from host_schema')).toEqual([{ version: 99 }])
})

test('a database that is full is STORAGE_UNAVAILABLE', async () => {
  const database = await opened()
  await run(database, 'pragma max_page_count = 2')
  const full = { code: 'STORAGE_UNAVAILABLE', message: 'the disk is full: free some space' }
  await expect(database.migrate()).rejects.toMatchObject(full)
})

test('a database that another process has locked is STORAGE_BUSY', async () => {
  const file = await newDatabase(SQLITE)
  const database = await opened(file.url)
  await run(database, 'pragma busy_timeout = 0')
  await file.begun()
  const locked = { code: 'STORAGE_BUSY', message: 'another process has locked it' }
  await expect(database.migrate()).rejects.toMatchObject(locked)
})

test('tables under another prefix leave those of a server without one alone', async () => {
  const { url } = await newDatabase(SQLITE)
  const [usual, other] = [await opened(url), await opened(url, 'other_')]
  await loadedStore(usual)
  await other.migrate()

  expect(await new SqlHostStore(usual).findAccount('alice')).toMatchObject({ id: '1' })
  expect(await new SqlHostStore(other).findAccount('alice')).toBe(undefined)
})
