import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALL_MIGRATIONS } from '../../../../src/storage/sql/schema/all-migrations.ts'
import { BOARD, outcomeOf, pin } from '../../../../src/testing/testing.ts'
import type { TestDatabase } from '../../../databases.ts'
import { newDatabase, onServer, POSTGRES, SERVER_KINDS } from '../../../databases.ts'

const NEWEST = ALL_MIGRATIONS.length
const LATER = NEWEST + 7
const FOREIGN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (_url) => {
    const isPostgres = kind === POSTGRES
    const renamed = (thing: 'table' | 'view', name: string, to: string) =>
      isPostgres ? `alter ${thing} ${name} rename to ${to}` : `rename table ${name} to ${to}`
    const renamedIndex = (name: string, to: string) =>
      isPostgres ? `alter index ${name} rename to ${to}` : `alter table forgelet_events rename index ${name} to ${to}`
    const renamedColumn = (name: string, to: string) => `alter table forgelet_consumers rename column ${name} to ${to}`
    const ledger = (version: number, oldest: number) =>
      `update forgelet_ledger set version = ${version}, oldest_library = ${oldest}`

    describe('the state of a schema', () => {
      let database: TestDatabase
      beforeAll(async () => {
        database = await newDatabase(kind, { atEnd: afterAll })
        await database.makeVersion(NEWEST)
      })

      test.each([
        ['outdated', ledger(1, 1), ledger(NEWEST, 1)],
        ['too-new', ledger(LATER, LATER), ledger(NEWEST, 1)],
        ['current', ledger(LATER, 1), ledger(NEWEST, 1)],
        ['drifted', renamed('view', 'forgelet_pins', 'lost'), renamed('view', 'lost', 'forgelet_pins')],
        ['drifted', renamed('table', 'forgelet_heads', 'lost'), renamed('table', 'lost', 'forgelet_heads')],
        ['drifted', renamedIndex('forgelet_events_type', 'lost'), renamedIndex('lost', 'forgelet_events_type')],
        ['drifted', renamedIndex('forgelet_events_position', 'lost'), renamedIndex('lost', 'forgelet_events_position')],
        ['drifted', renamedColumn('holder', 'lost'), renamedColumn('lost', 'holder')],
      ])('is %s after: %s', async (state, change, back) => {
        await database.run(change)
        expect(await database.storage().schemaStatus()).toMatchObject({ state })

        await database.run(back)
        expect(await database.storage().schemaStatus()).toMatchObject({ state: 'current' })
      })

      test('is empty in a database of other tables, which migrating leaves alone', async () => {
        const database = await newDatabase(kind)
        await database.run('create table forgelet_notes (text varchar(9))')
        await database.run('create table issues (id int primary key)')
        await database.run('insert into issues values (1)')
        const storage = database.storage()

        expect(await storage.schemaStatus()).toMatchObject({ state: 'empty' })
        await storage.migrate()
        expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
        expect(await database.run('select id from issues')).toEqual([{ id: 1 }])
      })
    })

    describe('a database that this library cannot use', () => {
      test('is SCHEMA_TOO_NEW when it is for newer libraries only, and stays as it is', async () => {
        const database = await newDatabase(kind)
        await database.migrated()
        await database.run(`update forgelet_ledger set version = ${LATER}, oldest_library = ${LATER}`)
        const storage = database.storage()
        const thrown = { code: 'SCHEMA_TOO_NEW', details: { found: LATER, oldestLibrary: LATER } }

        expect(await outcomeOf(() => storage.migrate())).toMatchObject({ thrown })
        expect(await outcomeOf(() => pin(storage, BOARD, '1'))).toMatchObject({ thrown })
        expect(await database.run('select * from forgelet_heads')).toEqual([])
      })

      test('is SCHEMA_OUTDATED until it is migrated', async () => {
        const database = await newDatabase(kind)
        await database.makeVersion(1)

        expect(await outcomeOf(() => pin(database.storage(), BOARD, '1'))).toMatchObject({
          thrown: { code: 'SCHEMA_OUTDATED', details: { found: 1, needed: NEWEST } },
        })
        expect(await pin(await database.migrated(), BOARD, '1')).toBe(1)
      })

      test('is a TypeError when it keeps ids in other columns', async () => {
        const database = await newDatabase(kind)
        await database.migrated({ ids: { user: 'uuid' } })
        const storage = database.storage({ ids: { user: 'text' } })
        const reported = /stores user ids as uuid \(the option ids.user is text\)/

        for (const call of [() => storage.migrate(), () => storage.schemaStatus(), () => pin(storage, BOARD, '1')]) {
          await expect(outcomeOf(call)).resolves.toMatchObject({ thrown: expect.any(TypeError) })
          await expect(call()).rejects.toThrow(reported)
        }
      })
    })

    describe('a database that already has our names, but not our ledger', () => {
      const place = isPostgres ? 'current_schema()' : 'database()'
      const names = (database: TestDatabase) =>
        database.run(`select table_name, table_type from information_schema.tables where table_schema = ${place}`)

      test.each([
        ['forgelet_heads', 'create table forgelet_heads (id int)'],
        ['forgelet_ledger', 'create table forgelet_ledger (entry varchar(9))'],
        ['forgelet_ledger', 'create view forgelet_ledger as select 1 as version'],
        ['forgelet_pins', 'create view forgelet_pins as select 1 as pin'],
        ['forgelet_outbox', 'create table forgelet_outbox (id int)'],
      ])('is not migrated, and the name is reported: %s', async (name, sql) => {
        const database = await newDatabase(kind)
        await database.run(sql)
        const before = await names(database)
        const storage = database.storage()

        await expect(storage.migrate()).rejects.toMatchObject({ ...FOREIGN, message: expect.stringContaining(name) })
        expect(await storage.schemaStatus()).toMatchObject({ state: 'drifted' })
        expect(await names(database)).toEqual(before)
      })

      test('is reported also if our tables have lost their ledger row', async () => {
        const database = await newDatabase(kind)
        await database.migrated()
        await database.run('delete from forgelet_ledger')

        expect(await database.storage().schemaStatus()).toMatchObject({ state: 'drifted' })
        await expect(database.storage().migrate()).rejects.toMatchObject({
          ...FOREIGN,
          message: expect.stringMatching(/ledger.*prefix/),
        })
      })

      test('is not brought to a later version', async () => {
        const database = await newDatabase(kind)
        await database.makeVersion(1)
        await database.run('create view forgelet_consumers as select 1 as id')
        const before = await names(database)

        await expect(database.storage().migrate()).rejects.toMatchObject(FOREIGN)
        expect(await names(database)).toEqual(before)
        expect(await database.storage().schemaStatus()).toMatchObject({ state: 'outdated' })
      })

      test.each([
        ['x_', 'x_board_'],
        ['x_board_', 'x_'],
      ])('is reported for the prefixes %s and %s, which would share a name', async (one, other) => {
        const database = await newDatabase(kind)
        const first = await database.migrated({ prefix: one })
        await pin(first, BOARD, '1')

        await expect(database.storage({ prefix: other }).migrate()).rejects.toMatchObject(FOREIGN)
        expect(await pin(first, BOARD, '2')).toBe(2)
      })
    })
  })
}
