import Database from 'better-sqlite3'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { kyselyStorage } from '../../../../src/storage/kysely.ts'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { heldOpen } from '../../databases/kysely-host.ts'
import type { HostTables } from '../../databases/kysely-sqlite.ts'
import { openHandle } from '../../databases/kysely-sqlite.ts'
import { FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import { newFile } from '../database-files.ts'

const RUN_AGAIN = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }

describe('while the host’s transaction has the one connection', () => {
  test('a plain call fails after five seconds, says what to do, and is not done later', async () => {
    const { storage, kysely } = await opened()
    const { commit } = await heldOpen(kysely.transaction())
    const start = performance.now()

    await expect(pin(storage, BOARD, '1')).rejects.toMatchObject({
      code: 'STORAGE_BUSY',
      details: { retry: 'call' },
      message: expect.stringContaining('use withTransaction for calls inside a transaction'),
    })
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
    await commit()
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('a plain call waits its turn', async () => {
    const { storage, kysely } = await opened()
    const { transaction, commit } = await heldOpen(kysely.transaction())
    await pin(storage, BOARD, '1', { transaction })
    const waiting = pin(storage, BOARD, '2')
    await commit()

    expect([await waiting, await issuesOn(storage, BOARD)]).toEqual([2, ['1', '2']])
  })
})

test('a plain call is refused while the host has begun a transaction by a statement, and leaves it as it is', async () => {
  const { storage, kysely } = await opened()
  await sql`begin`.execute(kysely)
  await sql`create table host_notes (id integer)`.execute(kysely)

  await expect(pin(storage, BOARD, '1')).rejects.toThrow(/is inside a transaction/)
  await expect(issuesOn(storage, BOARD)).rejects.toThrow(TypeError)
  await sql`commit`.execute(kysely)
  expect(await pin(storage, BOARD, '1')).toBe(1)
  expect((await sql`select id from host_notes`.execute(kysely)).rows).toEqual([])
})

describe('while another process writes', () => {
  test('a change waits for it, and the event loop does not sleep', async () => {
    const { storage, other } = await opened()
    other.exec('begin immediate')
    const waiting = pin(storage, BOARD, '1')
    let turns = 0
    for (const start = performance.now(); performance.now() - start < 200; turns += 1) await pause(5)
    other.exec('commit')

    expect([await waiting, turns > 10]).toEqual([1, true])
  })

  test('a change that has waited for five seconds is busy', async () => {
    const { storage, other } = await opened()
    other.exec('begin immediate')

    await expect(pin(storage, BOARD, '1')).rejects.toMatchObject({ code: 'STORAGE_BUSY', details: { retry: 'call' } })
    other.exec('commit')
    expect(await pin(storage, BOARD, '1')).toBe(1)
  })

  test('withTransaction is asked immediately to run the host’s transaction again', async () => {
    const { storage, kysely, other } = await opened()
    const { transaction, rollback } = await heldOpen(kysely.transaction())
    other.exec('begin immediate')

    await expect(Promise.resolve(storage.checkTransaction(transaction))).rejects.toMatchObject(RUN_AGAIN)
    other.exec('commit')
    await rollback()
  })

  test('withTransaction on a transaction that has read before is asked to run it again', async () => {
    const { storage, kysely, other } = await opened()
    other.exec('create table host_notes (id integer primary key)')
    const { transaction, rollback } = await heldOpen(kysely.transaction())
    await sql`select * from host_notes`.execute(transaction)
    other.exec('insert into host_notes values (1)')

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toMatchObject(RUN_AGAIN)
    await rollback()
  })

  test('a COMMIT that a reader is in the way of is made again', async () => {
    const file = newFile()
    const [writer, reader] = [0, 1].map(() => new Database(file, { timeout: 0 })) // they keep a journal, not a log
    const { storage } = await opened(file, writer)
    reader?.exec('begin')
    const read = reader?.prepare('select * from forgelet_ledger').all()
    const waiting = pin(storage, BOARD, '1')
    await pause(100)
    reader?.close()

    expect([read?.length, await waiting]).toEqual([1, 1])
    expect((await storage.events.read({ after: undefined, limit: 9 })).events).toHaveLength(1)
  })

  test('two that migrate at once both find it done', async () => {
    const file = newFile()
    const storages = [0, 1, 2].map(() => kyselyStorage(kyselyOn(openHandle(file)), { dialect: 'sqlite' }))
    await Promise.all(storages.map((storage) => storage.migrate()))

    for (const storage of storages) expect((await storage.schemaStatus()).state).toBe('current')
  })
})

describe('a transaction of its own', () => {
  test('is not committed where the host’s own code broke a constraint, and the error is the database’s', async () => {
    const { storage, other } = await opened()
    other.exec('create table host_a (id integer primary key)')
    other.exec('create table host_b (a integer references host_a (id) deferrable initially deferred)')
    const change = pin(storage, BOARD, '1', {
      beforeCommit: async (_, transaction) => void (await sql`insert into host_b values (7)`.execute(transaction)),
    })

    await expect(change).rejects.toThrow('FOREIGN KEY constraint failed')
    expect([await issuesOn(storage, BOARD), await pin(storage, BOARD, '2')]).toEqual([[], 1])
  })

  test('that was lost while committing may be done', async () => {
    const file = newFile()
    const handle = openHandle(file)
    const { storage } = await opened(file, losing(handle))
    handle.exec('create table host_lost (id integer)')

    await expect(pin(storage, BOARD, '1')).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      details: { outcome: 'unknown' },
    })
    handle.exec('drop table host_lost')
    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })

  test('that beforeCommit has ended is refused', async () => {
    const { storage } = await opened()
    const change = pin(storage, BOARD, '1', {
      beforeCommit: async (_, transaction) => void (await sql`rollback`.execute(transaction)),
    })

    await expect(change).rejects.toThrow(/beforeCommit must leave its transaction open and without/)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })
})

test('settings that endanger stored data are reported', async () => {
  const { storage, kysely } = await opened()
  await sql`pragma synchronous = full`.execute(kysely)
  expect((await storage.schemaStatus()).warnings).toEqual([])
  await sql`pragma synchronous = normal`.execute(kysely)
  await sql`pragma foreign_keys = off`.execute(kysely)

  expect((await storage.schemaStatus()).warnings).toEqual([
    expect.stringContaining('foreign_keys = off'),
    expect.stringContaining('synchronous = 1'),
  ])
})

type SqliteDatabase = Exclude<ConstructorParameters<typeof SqliteDialect>[0]['database'], () => unknown>

/** A migrated storage over a Kysely on a file, and a handle of another process on it. */
async function opened(file = newFile(), database: SqliteDatabase = openHandle(file)) {
  const kysely = kyselyOn(database)
  const storage = kyselyStorage(kysely, { dialect: 'sqlite' })
  await storage.migrate()
  const other = new Database(file, { timeout: 0 })
  onTestFinished(() => void other.close())
  return { kysely, storage, other }
}

function kyselyOn(database: SqliteDatabase): Kysely<HostTables> {
  const kysely = new Kysely<HostTables>({ dialect: new SqliteDialect({ database }) })
  onTestFinished(() => kysely.destroy())
  return kysely
}

/** A driver far from its database: while there is a table `host_lost`, it loses the answer to every COMMIT. */
function losing(handle: Database.Database): SqliteDatabase {
  const isLost = () => handle.prepare("select 1 from sqlite_master where name = 'host_lost'").all().length > 0
  return {
    close: () => void handle.close(),
    prepare(text: string) {
      if (text !== 'commit' || !isLost()) return handle.prepare(text)
      handle.exec('commit')
      throw new Error('the socket was closed')
    },
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
