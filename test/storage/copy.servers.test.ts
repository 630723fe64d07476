import { describe, expect, test } from 'vitest'
import { copyForge } from '../../src/storage/copy.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { define } from '../../src/testing/storage-contract/samples/badges.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { note } from '../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { MARIADB, newDatabase, onDatabases, POSTGRES, SQLITE } from '../databases.ts'
import { copySuite } from './copy-suite.ts'

// Each database is copied from and to once; the other pairs are in copy.nightly.test.ts.
copySuite([SQLITE], [POSTGRES])
copySuite([POSTGRES], [MARIADB])
copySuite([MARIADB], [SQLITE])

onDatabases([POSTGRES, MARIADB], (_open, kind) => {
  const created = async () => {
    const database = await newDatabase(kind)
    return { database, storage: await database.migrated() }
  }

  describe('events whose ids are not their places', () => {
    const withGaps = async () => {
      const { database, storage } = await created()
      await note(storage, 2)
      const undone = await database.begun()
      await block(storage, '1', '2', { transaction: undone.transaction })
      await undone.rollback()
      await note(storage, 2)
      const first = await storage.events.read({ after: undefined, limit: 3 })
      await note(storage, 1) // no one has read it, so it has no position yet
      return { storage, first }
    }

    test('keep both on a server, and their places where these are the ids', async () => {
      const { storage, first } = await withGaps()
      const [same, file] = [await created(), await newDatabase(SQLITE)]
      const inFile = file.storage()
      expect((await copyForge(storage, same.storage)).renumberedEvents).toBe(0)
      expect((await copyForge(storage, inFile)).renumberedEvents).toBe(3)

      const rest = await storage.events.read({ after: first.cursor, limit: 9 })
      expect(rest.events.map(({ id }) => id)).toEqual(['5', '6'])
      expect(await same.storage.events.read({ after: first.cursor, limit: 9 })).toEqual(rest)
      await pin(inFile, BOARD, '5')
      const there = await inFile.events.read({ after: first.cursor, limit: 2 })
      expect(there).toEqual({ ...rest, events: rest.events.map((event, at) => ({ ...event, id: `${at + 4}` })) })
      const { events } = await inFile.events.read({ after: there.cursor, limit: 9 })
      expect(events.map(({ id }) => id)).toEqual(['7']) // what is new never has the id of another
    })
  })

  test('of two copies at once into one target, one is refused', async () => {
    const [{ storage }, { database }] = [await created(), await created()]
    await note(storage, 2000)
    const copies = [database.storage(), database.storage()].map((target) => copyForge(storage, target))
    const settled = await Promise.allSettled(copies)

    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const [error] = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(error).toMatchObject({ code: expect.stringMatching(/^(STORAGE_UNAVAILABLE|COPY_REFUSED)$/) })
    expect((await database.storage().schemaStatus()).state).toBe('current')
  })
})

onDatabases([POSTGRES], (_open, kind) => {
  test('a limit of the source for statements does not limit a copy', async () => {
    const [from, to] = [await newDatabase(kind), await newDatabase(SQLITE)]
    await from.migrated()
    await from.run('create view slow as select 1 as id where cast(pg_sleep(0.4) as text) is not null')
    await to.run('create table slow (id integer primary key)')
    const source = from.closing(postgresStorage(`${from.url}?options=-c%20statement_timeout%3D200`))
    const slow = { name: 'slow', from: { table: 'slow' }, columns: { id: 'integer' }, key: ['id'] } as const

    expect((await copyForge(source, to.storage(), { tables: [slow] })).rows).toMatchObject({ slow: 1 })
  })
})

onDatabases([POSTGRES, MARIADB], (_open, kind) => {
  test('a target cannot be emptied while others refer to its rows', async () => {
    const [from, to] = [await newDatabase(SQLITE), await newDatabase(kind)]
    const [source, target] = [await from.migrated(), await to.migrated()]
    await define(target, 'owl')
    await to.run('create table others (badge bigint, foreign key (badge) references forgelet_badges (id))')
    await to.run('insert into others select id from forgelet_badges')
    await to.run('update forgelet_ledger set oldest_library = oldest_library + 1000000') // as a copy marks it

    await expect(copyForge(source, target, { empty: true })).rejects.toMatchObject({ code: 'STORAGE_BUSY' })
  })
})

onDatabases([SQLITE, POSTGRES, MARIADB], (_open, kind) => {
  const tables = { issues: { table: 'host_issues', repository: 'repository_id', number: 'number' } } as const
  const USERS =
    'create table host_issues (id bigint primary key, repository_id bigint not null, number bigint not null)'
  const HOSTS: Readonly<Record<string, string>> = { SQLite: USERS.replaceAll('bigint', 'integer') }

  describe('a target that follows the tables of the host', () => {
    const both = async () => {
      const [from, to] = [await newDatabase(SQLITE), await newDatabase(kind)]
      const source = await from.migrated()
      await pin(source, BOARD, '7')
      await to.run(HOSTS[kind.name] ?? USERS)
      return { source, to, target: to.storage({ tables }) }
    }

    test('takes what refers to its rows, and follows them', async () => {
      const { source, to, target } = await both()
      await to.run('insert into host_issues values (7, 10, 1)')
      await copyForge(source, target)
      expect(await target.schemaStatus()).toMatchObject({ state: 'current' })
      await to.run('delete from host_issues')

      expect(await to.run('select issue_id from forgelet_board_pins')).toEqual([])
    })

    test('refuses what refers to rows that are not there', async () => {
      const { source, to, target } = await both()
      const refused = { code: 'COPY_REFUSED', details: { reason: 'target-differs' } }
      await expect(copyForge(source, target)).rejects.toMatchObject(refused)

      expect(await to.storage({ tables }).schemaStatus()).toMatchObject({ state: 'incomplete' })
    })
  })
})
