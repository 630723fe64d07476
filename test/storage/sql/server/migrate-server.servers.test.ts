import { join } from 'node:path'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mysqlStorage } from '../../../../src/storage/mysql.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import { Mysql2DatabaseClient } from '../../../../src/storage/sql/clients/mysql2.ts'
import { PgDatabaseClient } from '../../../../src/storage/sql/clients/pg.ts'
import { createSqlContext } from '../../../../src/storage/sql/context.ts'
import { mysqlDialect } from '../../../../src/storage/sql/dialects/mariadb.ts'
import { postgresDialect } from '../../../../src/storage/sql/dialects/postgres.ts'
import { Schema } from '../../../../src/storage/sql/schema/schema.ts'
import { CallDeadline } from '../../../../src/storage/sql/server/call-deadline.ts'
import { DatabaseServer } from '../../../../src/storage/sql/server/database-server.ts'
import { MariadbRules } from '../../../../src/storage/sql/server/mariadb-rules.ts'
import type { MigrationLimits } from '../../../../src/storage/sql/server/migrate.ts'
import { migrateServer } from '../../../../src/storage/sql/server/migrate.ts'
import { PostgresRules } from '../../../../src/storage/sql/server/postgres-rules.ts'
import { BOARD, pin } from '../../../../src/testing/testing.ts'
import type { HostConnection, ServerKind, TestDatabase } from '../../../databases.ts'
import { MARIADB, newDatabase, onServer, POSTGRES, pgConnection, SERVER_KINDS, SERVERS } from '../../../databases.ts'
import { startProgram } from '../../../start-forgelet.ts'

/** Migrates as a storage does, with another patience. */
async function migrate(kind: ServerKind, url: string, patience: MigrationLimits): Promise<void> {
  const context = createSqlContext(kind.name === 'PostgreSQL' ? postgresDialect : mysqlDialect)
  const parts =
    kind.name === 'PostgreSQL'
      ? { client: new PgDatabaseClient(url), rules: new PostgresRules(context) }
      : { client: new Mysql2DatabaseClient(url), rules: new MariadbRules(context.ids, { sendsPlainText: false }) }
  const server = new DatabaseServer<object>(parts)
  const deadline = new CallDeadline({ total: Number.POSITIVE_INFINITY })
  await migrateServer(server, new Schema(context), deadline, patience).finally(() => server.close())
}

const BUSY = { code: 'STORAGE_BUSY', details: { retry: 'call' } }
const AN_EVENT = "insert into forgelet_events (type, version, at, data) values ('x', 1, 1, '{}')"

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (_url) => {
    test('ten processes that migrate at once all end well, and one set of tables is there', async () => {
      const database = await newDatabase(kind)
      const script = join(import.meta.dirname, '../migrate.mjs')
      const children = Array.from({ length: 10 }, () => startProgram([script, database.url]))
      await Promise.all(children.map((child) => child.line()))
      for (const child of children) child.stdin.end('go\n')
      const states = await Promise.all(children.map((child) => child.line()))

      expect(states).toEqual(Array.from({ length: 10 }, () => 'current'))
      expect(await database.run('select version from forgelet_ledger')).toHaveLength(1)
    })

    describe('a migration that ended halfway', () => {
      const count = kind.plan().length

      test.each(placesIn(count))('is ended by the next: after %i of its statements', async (done) => {
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
      const host = await inTransaction(database)
      const migrated = Promise.all([1, 2, 3].map(() => database.migrated()))
      const longest = await longestRead(database, 6000)

      expect(longest).toBeLessThan(4500) // five seconds are what a migration waits in all
      expect(await database.run('select version from forgelet_ledger where version = 1')).toHaveLength(1)
      await host.run('rollback')
      const [storage] = await migrated
      expect(await storage?.schemaStatus()).toMatchObject({ state: 'current' })
    })

    test('a migration that users keep waiting too long is STORAGE_BUSY, and leaves no lock behind', async () => {
      const database = await newDatabase(kind)
      await database.makeVersion(1)
      const host = await inTransaction(database)

      await expect(migrate(kind, database.url, { others: 0, users: 100 })).rejects.toMatchObject(BUSY)
      await host.run('rollback')
      await migrate(kind, database.url, { others: 0, users: 100 })
      expect(await database.storage().schemaStatus()).toMatchObject({ state: 'current' })
    })

    test('another process that migrates is waited for, and too long is STORAGE_BUSY', async () => {
      const database = await newDatabase(kind)
      const other = await database.connect()
      const [answer] = await other.run(lockStatement(kind))
      expect(answer).toEqual({ lock: 'taken' })

      await expect(migrate(kind, database.url, { others: 100, users: 0 })).rejects.toMatchObject(BUSY)
      expect(await database.storage().schemaStatus()).toMatchObject({ state: 'empty' })
      const migrated = migrate(kind, database.url, { others: 20_000, users: 5000 })
      await other.end()
      await migrated
      expect(await database.storage().schemaStatus()).toMatchObject({ state: 'current' })
    })
  })
}

onServer(SERVERS.postgres, (url) => {
  test('the one connection of a small pool is enough, and is given back as it was, without the lock', async () => {
    const database = await newDatabase(POSTGRES)
    const pool = new pg.Pool({ connectionString: database.url, max: 1 })
    await pool.query("set statement_timeout = '1234ms'; set lock_timeout = '5678ms'")
    await postgresStorage(pool).migrate()

    expect(await database.run(lockStatement(POSTGRES))).toEqual([{ lock: 'taken' }])
    expect((await pool.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '1234ms' }])
    expect((await pool.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '5678ms' }])
    await pool.end()
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
    const own = new URL(database.url)
    own.username = role
    const storage = postgresStorage(own.href, { schema: 'given' })
    await storage.migrate()

    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    await storage.close()
  })
})

onServer(SERVERS.mariadb, (_url) => {
  test('the one connection of a small pool is enough, and is given back without the lock', async () => {
    const database = await newDatabase(MARIADB)
    const pool = createPool({ uri: database.url, connectionLimit: 1 })
    const storage = mysqlStorage(pool)
    await storage.migrate()

    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await database.run(lockStatement(MARIADB))).toEqual([{ lock: 'taken' }])
    await pool.end()
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

function lockStatement({ name }: ServerKind): string {
  const dialect = name === 'PostgreSQL' ? postgresDialect : mysqlDialect
  const statement = dialect.schemaChanges?.lock({ schema: undefined, prefix: 'forgelet_' })
  return statement?.sql.replace('$1', 'null') ?? ''
}

/** A transaction of the host's that has read and written the events. */
async function inTransaction(database: TestDatabase): Promise<HostConnection> {
  const host = await database.connect()
  await host.run('begin')
  await host.run('select * from forgelet_events')
  await host.run(AN_EVENT)
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
