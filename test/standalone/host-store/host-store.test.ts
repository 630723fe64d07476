import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { MemoryHostStore } from '../../../src/standalone/host-store/memory-host-store.ts'
import { SqlHostStore } from '../../../src/standalone/host-store/sql-host-store.ts'
import { openSqliteDatabase, SqliteHostDatabase } from '../../../src/standalone/host-store/sqlite-database.ts'
import { createSqlContext } from '../../../src/storage/sql/context.ts'
import { sqliteDialect } from '../../../src/storage/sql/dialects/sqlite.ts'
import { openSqlite } from '../../../src/storage/sqlite.ts'
import { newFile, openHandle } from '../../storage/sql/database-files.ts'
import { hostStoreSuite, seed } from './host-store-suite.ts'
import { load, loadedStore } from './loaded-store.ts'
import { olderTablesCase } from './older-tables-suite.ts'

hostStoreSuite('in memory', async () => loadedInMemory())
hostStoreSuite('in tables', async () => loadedStore(await openSqliteDatabase(':memory:', undefined)))

function loadedInMemory(): MemoryHostStore {
  const store = new MemoryHostStore()
  store.load(seed)
  return store
}

/** A database on a handle that the test can use too. */
function onHandle(): { readonly handle: Database.Database; readonly database: SqliteHostDatabase } {
  const handle = new Database(':memory:')
  onTestFinished(() => void handle.close())
  return { handle, database: new SqliteHostDatabase(handle, createSqlContext(sqliteDialect)) }
}

test('a store in memory is settled once', () => {
  const store = loadedInMemory()
  expect(() => store.load(seed)).toThrow(TypeError)
})

test('a store in tables is settled once', async () => {
  const { handle, database } = onHandle()
  const store = await loadedStore(database)
  const accounts = handle.prepare('select * from host_accounts').all()
  expect(await load(database, store)).toBe(false)
  expect(handle.prepare('select * from host_accounts').all()).toEqual(accounts)
})

test('a store in an SQLite database answers in the same tick', async () => {
  const store = await loadedStore(onHandle().database)
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
  const { handle, database } = onHandle()
  await loadedStore(database)
  const tokens = JSON.stringify(handle.prepare('select * from host_tokens').all())
  expect(tokens).toContain('digest')
  expect(tokens).not.toContain('alice-token')
})

test('the tables are made once, used if a newer release has added to them, and refused if it has changed them', async () => {
  const { handle, database } = onHandle()
  await database.migrate()
  await database.migrate()
  handle.exec('update host_schema set version = 99')
  await database.migrate()
  expect(handle.prepare('select version from host_schema').all()).toEqual([{ version: 99 }])
  handle.exec('update host_schema set oldest_library = 99')
  await expect(database.migrate()).rejects.toThrow('version 99, which only releases that know version 99 can use')
})

test('a database that is full is STORAGE_UNAVAILABLE', async () => {
  const { handle, database } = onHandle()
  handle.pragma('max_page_count = 2')

  await expect(database.migrate()).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    message: 'the disk is full: free some space',
  })
})

test('a database that another process has locked is STORAGE_BUSY', async () => {
  const file = newFile()
  openHandle(file).exec('begin immediate')
  const database = new SqliteHostDatabase(openHandle(file), createSqlContext(sqliteDialect))

  await expect(database.migrate()).rejects.toMatchObject({
    code: 'STORAGE_BUSY',
    message: 'another process has locked it',
  })
})

test('tables under another prefix leave those of a server without one alone', async () => {
  const handle = openSqlite(':memory:')
  onTestFinished(() => void handle.close())
  const [usual, other] = [undefined, 'other_'].map(
    (prefix) => new SqliteHostDatabase(handle, createSqlContext(sqliteDialect, { prefix })),
  )
  if (usual === undefined || other === undefined) throw new TypeError('two databases were made')
  await loadedStore(usual)
  await other.migrate()

  expect(await new SqlHostStore(usual).findAccount('alice')).toMatchObject({ id: '1' })
  expect(await new SqlHostStore(other).findAccount('alice')).toBe(undefined)
})

olderTablesCase(async () => {
  const { handle, database } = onHandle()
  return { database, run: (sql) => handle.exec(sql) }
})
