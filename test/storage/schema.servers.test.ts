import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { MARIADB, newDatabase, onServer, POSTGRES, pgConnection, runOnce, SERVER_KINDS, SERVERS } from '../databases.ts'
import { schemaSuite } from './schema-suite.ts'

/** What a process that migrates does first. */
const LOCKED: Readonly<Record<string, readonly string[]>> = {
  PostgreSQL: ['begin', "select pg_advisory_xact_lock(hashtextextended('forgelet migrates ' || current_schema(), 0))"],
  MariaDB: ["select get_lock(concat('forgelet migrates ', sha1(database())), 0)"],
}

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

    test('a migration waits for another, ten seconds at most, and is then STORAGE_BUSY', async () => {
      const database = await newDatabase(kind)
      const other = await database.connect()
      for (const sql of LOCKED[kind.name] ?? []) await other.run(sql)
      const storage = database.storage()

      await expect(storage.migrate()).rejects.toMatchObject({ code: 'STORAGE_BUSY', details: { retry: 'call' } })
      const waiting = storage.migrate()
      await other.end()
      await waiting
      expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    })
  })
}

onServer(SERVERS.postgres, (url) => {
  test('ids of events that would be assigned again, as behind a logical replication, are seen, and migrate() goes on behind them', async () => {
    const database = await newDatabase(POSTGRES)
    const storage = await database.migrated()
    for (const id of ['1', '2', '3']) await pin(storage, { ...BOARD, repositoryId: id }, id)
    await database.run('alter table forgelet_events alter column id restart') // a subscriber has the rows, and not the sequence
    const next = { ...BOARD, repositoryId: '4' }

    await expect(pin(storage, next, '4')).rejects.toThrow('forgelet_events_pkey')
    expect(await storage.schemaStatus()).toEqual({
      state: 'drifted',
      warnings: ['forgelet_events has ids that would be assigned again: call migrate()'],
    })
    await storage.migrate()
    expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
    expect(await pin(storage, next, '4')).toBe(1)
  })

  test('the one connection of a small pool is enough, and is given back as it was, without the lock', async () => {
    const database = await newDatabase(POSTGRES)
    const pool = new pg.Pool({ connectionString: database.url, max: 1 })
    pool.on('error', () => undefined) // the database may go before its last connection has ended
    onTestFinished(() => pool.end())
    await pool.query("set statement_timeout = '1234ms'; set lock_timeout = '5678ms'")
    await postgresStorage(pool).migrate()

    const locks =
      "select 1 from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())"
    expect(await database.run(locks)).toEqual([])
    expect((await pool.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '1234ms' }])
    expect((await pool.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '5678ms' }])
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
    onTestFinished(async () => void (await runOnce(pgConnection, url, `drop role ${role}`))) // after the database, which is dropped first
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
    await mariadbStorage(pool).migrate()

    expect(await (await database.migrated({ prefix: 'other_' })).schemaStatus()).toMatchObject({ state: 'current' })
  })
})

/** Behind the first statements, in the middle of a step, and before the last, where tables are in use already. */
function placesIn(count: number): readonly number[] {
  return [1, 3, Math.floor(count / 2), count - 4, count - 1]
}
