import type Database from 'better-sqlite3'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Forge } from '../../src/index.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { Person } from '../core/a-forge.ts'
import { mia, olga } from '../core/a-forge.ts'
import { forgeOn } from './forge-on.ts'
import { newFile, openHandle } from './sql/database-files.ts'

type Handle = Database.Database

/** Inserts an issue of the host, and does the rest of the work, in one transaction of a library on the handle. */
type InTransaction = (handle: Handle, issueId: number, work: () => void) => unknown

/** Transactions of Kysely wait between their statements, and those of Drizzle on better-sqlite3 do not. */
const LIBRARIES: readonly (readonly [string, InTransaction])[] = [
  [
    'Kysely',
    async (handle, issueId, work) => {
      const database = new Kysely({ dialect: new SqliteDialect({ database: handle }) })
      await database.transaction().execute(async (transaction) => {
        await sql`insert into host_issue values (${issueId})`.execute(transaction)
        work()
      })
    },
  ],
  [
    'Drizzle',
    (handle, issueId, work) =>
      drizzle(handle).transaction((transaction) => {
        transaction.run(drizzleSql`insert into host_issue values (${issueId})`)
        work()
      }),
  ],
]

describe.each(LIBRARIES)('withTransactionSync in a transaction of %s', (_name, inTransaction) => {
  test('is rolled back with what the library wrote', async () => {
    const { handle, forge, pinned } = await opened()
    const failing = async () =>
      inTransaction(handle, 1, () => {
        pin(forge, handle, 1)
        throw new Error('the host changed its mind')
      })

    await expect(failing()).rejects.toThrow('the host changed its mind')
    expect(await pinned()).toEqual({ issues: [], pins: [] })
  })

  test('is committed with what the library wrote, but for a call that was refused', async () => {
    const { handle, forge, pinned } = await opened()
    await inTransaction(handle, 3, () => {
      pin(forge, handle, 3)
      expect(() => pin(forge, handle, 4)).toThrow('no pins of 4')
      pin(forge, handle, 5)
    })

    expect(await pinned()).toEqual({ issues: [3], pins: ['3', '5'] })
  })
})

function pin(forge: Forge<Person, Handle>, handle: Handle, id: number): void {
  forge.withTransactionSync(handle, ({ pins }) => pins.pin(olga, { id, repositoryId: 10, kind: 'issue' }))
}

async function opened() {
  const handle = openHandle(newFile())
  handle.exec('create table host_issue (id integer primary key)')
  const storage = sqliteStorage(handle)
  onTestFinished(() => storage.close())
  await storage.migrate()
  const forge = forgeOn(storage, {
    beforeCommit(events) {
      if (events.some((event) => event.issueId === '4')) throw new Error('no pins of 4')
    },
  })
  const pinned = async () => ({
    issues: handle.prepare('select id from host_issue').pluck().all(),
    pins: (await forge.pins.list(mia, { repositoryId: 10, kind: 'issue' })).map(({ issueId }) => issueId),
  })
  return { handle, forge, pinned }
}
