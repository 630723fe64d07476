import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { BOARD, pin } from '../../src/testing/testing.ts'
import type { HostConnection, TestDatabase } from '../databases.ts'
import { MARIADB, newDatabase, onServer, POSTGRES, pgConnection, SERVER_KINDS, SERVERS } from '../databases.ts'
import { schemaSuite } from './schema-suite.ts'
import { untilOneWaits } from './waiting.ts'

const AN_EVENT = "insert into forgelet_events (type, version, at, data) values ('x', 1, 1, '{}')"
/** Longer than a migration waits for another, in milliseconds. */
const TOO_LONG = 301_000

schemaSuite(SERVER_KINDS)

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (_url) => {
    describe('a migration that ended halfway', () => {
      test.each(placesIn(kind.plan().length))('is ended by the next: after %i of its statements', async (done) => {
        const database = await newDatabase(kind)
        const killed = await database.connect()
        for (const sql of kind.plan().slice(0, done)) await killed.run(sql)
        await killed.end()
        const storage = await database.migrated()

        expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
        expect(await pin(storage, BOARD, '1')).toBe(1)
      })
    })

    test('migrations wait for users of a table, and no reader waits long meanwhile', async () => {
      const database = await newDatabase(kind)
      await database.makeVersion(1)
      const host = await inTransaction(database, 'select * from forgelet_events', AN_EVENT)
      const migrated = Promise.all([1, 2, 3].map(() => database.migrated()))
      const longest = await longestRead(database, 6000)

      expect(longest).toBeLessThan(4500) // five seconds are what a migration waits in all
      expect(await database.run('select version from forgelet_ledger where version = 1')).toHaveLength(1)
      await host.run('rollback')
      const [storage] = await migrated
      expect(await storage?.schemaStatus()).toMatchObject({ state: 'current' })
    })

    test('a migration that users of a table, or another migration, keep waiting for too long is STORAGE_BUSY', async () => {
      const database = await newDatabase(kind)
      await database.makeVersion(1)
      const host = await inTransaction(database, 'update forgelet_ledger set version = version')
      const migrations = [1, 2].map(() => database.storage().migrate())
      const ended = Promise.allSettled(migrations)
      await untilOneWaits(database)
      const now = performance.now.bind(performance)
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + TOO_LONG)
      const outcomes = await ended.finally(() => clock.mockRestore())
      await host.run('rollback')

      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ reason: { code: 'STORAGE_BUSY', details: { retry: 'call' } } })
      }
      expect(await (await database.migrated()).schemaStatus()).toMatchObject({ state: 'current' }) // no lock is left
    })
  })
}

onServer(SERVERS.postgres, (url) => {
  test('the one connection of a small pool is enough, and is given back as it was, without the lock', async () => {
    const database = await newDatabase(POSTGRES)
    const pool = new pg.Pool({ connectionString: database.url, max: 1 })
    pool.on('error', () => undefined) // the database may go before its last connection has ended
    onTestFinished(() => pool.end())
    await pool.query("set statement_timeout = '1234ms'; set lock_timeout = '5678ms'")
    await postgresStorage(pool).migrate()

    expect(await database.run("select 1 from pg_locks where locktype = 'advisory'")).toEqual([])
    expect((await pool.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '1234ms' }])
    expect((await pool.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '5678ms' }])
  })

  test('an unfinished index is created again', async () => {
    const database = await newDatabase(POSTGRES)
    await database.makeVersion(1)
    await database.run(AN_EVENT)
    await database.run(AN_EVENT)
    await database.run('update forgelet_events set position = 5')
    const unique = 'create unique index concurrently forgelet_events_position on forgelet_events (position)'
    await expect(database.run(unique)).rejects.toThrow('could not create unique index')
    await database.run('delete from forgelet_events')

    expect(await (await database.migrated()).schemaStatus()).toMatchObject({ state: 'current' })
  })

  test('an index of the host with one of our names is not mistaken for ours', async () => {
    const database = await newDatabase(POSTGRES)
    await database.makeVersion(1)
    await database.run('create table notes (text text)')
    await database.run('create index forgelet_events_position on notes (text)')

    await expect(database.storage().migrate()).rejects.toThrow('forgelet_events_position')
  })

  test('a schema is made when it does not exist, and its forge does not meet that of another', async () => {
    const database = await newDatabase(POSTGRES)
    const [one, other] = await Promise.all([
      database.migrated({ schema: 'one' }),
      database.migrated({ schema: 'Other' }),
    ])
    await pin(one, BOARD, '1')

    expect(await pin(other, BOARD, '1')).toBe(1)
    expect(await database.run('select issue_id from one.forgelet_pins')).toEqual([{ issue_id: '1' }])
    expect(await database.run('select issue_id from "Other".forgelet_pins')).toEqual([{ issue_id: '1' }])
    expect(await database.storage().schemaStatus()).toMatchObject({ state: 'empty' })
  })

  test('who was given a schema needs no right to make one', async () => {
    const role = `forgelet_schema_${Date.now()}`
    onTestFinished(() => dropRole(url, role)) // after the database, which is dropped first
    const database = await newDatabase(POSTGRES)
    await database.run(`create role ${role} login`)
    await database.run(`create schema given authorization ${role}`)
    const own = Object.assign(new URL(database.url), { username: role })
    const storage = database.closing(postgresStorage(own.href, { schema: 'given' }))
    await storage.migrate()

    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
  })
})

onServer(SERVERS.mariadb, (_url) => {
  test('the one connection of a small pool is enough, and is given back without the lock', async () => {
    const database = await newDatabase(MARIADB)
    const pool = createPool({ uri: database.url, connectionLimit: 1 })
    onTestFinished(() => pool.end())
    await mysqlStorage(pool).migrate()

    expect(await (await database.migrated({ prefix: 'other_' })).schemaStatus()).toMatchObject({ state: 'current' })
  })
})

async function dropRole(url: string, role: string): Promise<void> {
  const admin = await pgConnection(url)
  await admin.run(`drop role ${role}`)
  await admin.end()
}

/** Around the first statements, in the middle of a step, and around the last, where tables are in use already. */
function placesIn(count: number): readonly number[] {
  return [1, 2, 3, 4, Math.floor(count / 2), ...[7, 6, 5, 4, 3, 2, 1].map((left) => count - left)]
}

/** A transaction of the host's that has run these statements. */
async function inTransaction(database: TestDatabase, ...statements: readonly string[]): Promise<HostConnection> {
  const host = await database.connect()
  for (const sql of ['begin', ...statements]) await host.run(sql)
  return host
}

/** The longest time, in milliseconds, that a read of the events took, within so much time. */
async function longestRead(database: TestDatabase, within: number): Promise<number> {
  const end = performance.now() + within
  let longest = 0
  for (let began = performance.now(); began < end; began = performance.now()) {
    await database.run('select * from forgelet_events')
    longest = Math.max(longest, performance.now() - began)
  }
  return longest
}
