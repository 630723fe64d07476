import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NEWEST_VERSION } from '../../src/storage/sql/schema/ddl.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import { define, grant } from '../../src/testing/storage-contract/samples/badges.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, issuesOn, moveToFront, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { change, NO_SUBJECT, NOON } from '../../src/testing/storage-contract/samples/sample.ts'
import type { AnyKind, TestDatabase } from '../databases.ts'
import { newDatabase, onDatabases } from '../databases.ts'
import { startProgram } from '../start-forgelet.ts'

const TAKEN = { code: 'SCHEMA_CONFLICT' }
const OTHER = { prefix: 'x_', ids: { organization: 'uuid', issue: 'text' } } as const
const ALL = 'select type, name, sql from sqlite_master order by name'

const VERSIONS = Array.from({ length: NEWEST_VERSION }, (_, before) => before + 1)

/** Defines what migrating does on every database, and what a storage says of tables that it cannot use. */
export function schemaSuite(kinds: readonly AnyKind[]): void {
  onDatabases(kinds, (_open, kind) => {
    const isSqlite = kind.name === 'SQLite'
    const place = { SQLite: "'main'", PostgreSQL: 'current_schema()', MariaDB: 'database()' }[kind.name] ?? ''
    const created = () => newDatabase(kind)
    const changedBy = async (sql: string) => {
      const database = await created()
      await (await database.migrated()).close()
      await database.run(sql)
      return database
    }
    /** Every table, view and index, for hosts that want them unchanged. */
    const things = (database: Pick<TestDatabase, 'run'>) =>
      database.run(
        isSqlite
          ? ALL
          : `select table_name, table_type from information_schema.tables where table_schema = ${place} order by 1`,
      )

    describe('the state of a schema', () => {
      test.each([
        ['outdated', 'update forgelet_ledger set version = 0'],
        ['too-new', 'update forgelet_ledger set version = 99, oldest_library = 99'],
        ['drifted', 'drop view forgelet_pins'],
        ['drifted', `drop table forgelet_heads`],
        ['drifted', 'alter table forgelet_consumers drop column holder'],
      ])('is %s after: %s', async (state, sql = '') => {
        const database = await changedBy(sql)

        expect((await database.storage().schemaStatus()).state).toBe(state)
      })

      test('is empty in a database of other tables, which migrating leaves alone', async () => {
        const database = await created()
        await database.run('create table forgelet_notes (text varchar(9))')
        await database.run('create table issues (id int primary key)')
        await database.run('insert into issues values (1)')
        const storage = database.storage()

        expect((await storage.schemaStatus()).state).toBe('empty')
        await storage.migrate()
        expect((await storage.schemaStatus()).state).toBe('current')
        expect(await database.run('select id from issues')).toEqual([{ id: 1 }])
      })
    })

    describe('a database that this library cannot use', () => {
      test('is SCHEMA_TOO_NEW when it is for newer libraries only, and stays as it is', async () => {
        const database = await changedBy('update forgelet_ledger set version = 99, oldest_library = 7')
        const storage = database.storage()
        const thrown = { code: 'SCHEMA_TOO_NEW', details: { found: 99, oldestLibrary: 7 } }

        for (const call of [() => storage.migrate(), () => pin(storage, BOARD, '1'), () => issuesOn(storage, BOARD)]) {
          expect(await outcomeOf(call)).toMatchObject({ thrown })
        }
        expect(await database.run('select * from forgelet_heads')).toEqual([])
      })

      test('is SCHEMA_OUTDATED until it is migrated', async () => {
        const database = await created()
        const message = expect.stringContaining('await storage.migrate(), or run "forgelet schema apply"')
        const thrown = { code: 'SCHEMA_OUTDATED', details: { found: 0, needed: NEWEST_VERSION }, message }

        expect(await outcomeOf(() => pin(database.storage(), BOARD, '1'))).toMatchObject({ thrown })
        expect(await pin(await database.migrated(), BOARD, '1')).toBe(1)
      })

      test('is a TypeError when it keeps ids in another column', async () => {
        const database = await created()
        await (await database.migrated({ ids: { issue: 'text' } })).close()
        const storage = database.storage()
        const message = expect.stringMatching(
          'stores ids as .*issue=text.*issue=bigint.*: open the storage with the same ids',
        )

        for (const call of [() => storage.migrate(), () => storage.schemaStatus(), () => pin(storage, BOARD, '1')]) {
          expect(await outcomeOf(call)).toMatchObject({ thrown: { name: 'TypeError', message } })
        }
      })

      test('can be used when only its newest parts are too new', async () => {
        const database = await changedBy('update forgelet_ledger set version = 99')
        const storage = await database.migrated()

        expect((await storage.schemaStatus()).state).toBe('current')
        expect(await pin(storage, BOARD, '1')).toBe(1)
      })
    })

    describe('a database that already has our names, but not our ledger', () => {
      test.each([
        ['forgelet_heads', 'create table forgelet_heads (id int)'],
        ['forgelet_ledger', 'create table forgelet_ledger (entry varchar(9))'],
        ['forgelet_ledger', 'create view forgelet_ledger as select 1 as version'],
        ['forgelet_pins', 'create view forgelet_pins as select 1 as pin'],
        ['forgelet_outbox', 'create table forgelet_outbox (id int)'],
        ...(kind.name !== 'MariaDB' // there each table has its own names of indexes
          ? [['forgelet_events_type', 'create table t (name text); create index forgelet_events_type on t (name)']]
          : []),
      ])('is not migrated, and the name is reported: %s', async (name, sql = '') => {
        const database = await created()
        await database.run(sql)
        const before = await things(database)
        const storage = database.storage()

        await expect(storage.migrate()).rejects.toMatchObject({
          ...TAKEN,
          details: { name },
          message: expect.stringContaining(name),
        })
        expect(await storage.schemaStatus()).toMatchObject({ state: 'drifted' })
        expect(await things(database)).toEqual(before)
      })

      test('is reported also if our tables have lost their ledger row', async () => {
        const storage = (await changedBy('delete from forgelet_ledger')).storage()

        const message = expect.stringMatching(/ledger.*prefix/)
        await expect(storage.migrate()).rejects.toMatchObject({ ...TAKEN, message })
        expect((await storage.schemaStatus()).state).toBe('drifted')
      })

      test.each([
        ['x_', 'x_board_'],
        ['x_organization_', 'x_'],
      ])('is reported for the prefixes %s and %s, which would share a name', async (one, other) => {
        const database = await created()
        const first = await database.migrated({ prefix: one })
        await pin(first, BOARD, '1')

        await expect(database.storage({ prefix: other }).migrate()).rejects.toMatchObject(TAKEN)
        expect((await first.schemaStatus()).state).toBe('current')
        expect(await pin(first, BOARD, '2')).toBe(2)
      })
    })

    test('tables of a dump of the schema alone get the rows that a migration writes, if they have the same ids', async () => {
      const database = await created()
      await (await database.migrated()).close()
      for (const name of ['ledger', 'outbox', 'host_tables']) await database.run(`delete from forgelet_${name}`)
      const before = await things(database)

      const other = database.storage({ ids: { issue: 'text' } })
      await expect(other.migrate()).rejects.toMatchObject(TAKEN)
      const storage = await database.migrated()
      expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
      expect(await things(database)).toEqual(before)
      expect(await pin(storage, BOARD, '1')).toBe(1)
      expect((await storage.events.read({ after: undefined, limit: 10 })).events).toHaveLength(1)
    })

    test.each([undefined, OTHER])('the plan run by hand makes what migrate() makes: %o', async (options) => {
      const [byHand, migrated] = [await created(), await created()]
      await byHand.runAll(kind.plan(options))
      await migrated.migrated(options)
      const storage = byHand.storage(options)

      expect(await things(byHand)).toEqual(await things(migrated))
      expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
      expect(await pin(storage, BOARD, '1')).toBe(1)
    })

    test.each(VERSIONS)(
      'tables that a release with version %i has made are migrated to the newest',
      async (version) => {
        const [made, migrated] = [await created(), await created()]
        const files = [0, ...VERSIONS.slice(0, version)].map((each) => `version-${each}.${kind.name.toLowerCase()}.sql`)
        const released = files.map((file) => readFileSync(join(import.meta.dirname, 'sql/schema', file), 'utf8'))
        await made.runAll(released.flatMap((text) => text.split(/;\n/).slice(0, -1)))
        await made.run(`update forgelet_ledger set version = ${version}, oldest_library = 1`)
        const ids = { organization: 'uuid', repository: 'text' } as const
        const storage = await made.migrated({ ids })
        await migrated.migrated({ ids })

        expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
        expect(await things(made)).toEqual(await things(migrated))
        expect(await pin(storage, BOARD, '1')).toBe(1)
      },
    )

    test('ten processes that migrate at once all end well, and one set of tables is there', async () => {
      const database = await created()
      const script = join(import.meta.dirname, 'sql/migrate.mjs')
      const children = Array.from({ length: isSqlite ? 4 : 10 }, () => startProgram([script, database.url]))
      await Promise.all(children.map((child) => child.line()))
      for (const child of children) child.stdin.end('go\n')
      const states = await Promise.all(children.map((child) => child.line()))
      await Promise.all(children.map(({ ended }) => ended)) // the last to close a file locks it

      expect(new Set(states)).toEqual(new Set(['current']))
      expect(await database.run('select version from forgelet_ledger')).toHaveLength(1)
    })

    test.each([
      ['uuid', '01890a5d-ac96-774b-bcce-b302099a8057', 'ffffffff-ffff-4fff-bfff-ffffffffffff'],
      ['text', `O'Hara \\ 🦉`, `O'hara \\ 🦉`],
      ['bigint', '-9223372036854775808', '9223372036854775807'],
    ] as const)('ids are kept as %s, and no other is found for one', async (column, id, other) => {
      const ids = { user: column, organization: column, repository: column, issue: column }
      const storage = await (await created()).migrated({ prefix: 'other_', ids })
      const board = { ...BOARD, repositoryId: id }
      const by = { actorId: id, at: () => new Date(NOON) }
      const subject = { ...NO_SUBJECT, repositoryId: id, issueId: id }
      const pinned = { ...subject, type: 'issue.pinned', data: { position: 1 } } as const
      const row = { issueId: id, pinnedAt: NOON, pinnedBy: id }
      await change(storage.pinBoards, board, () => ({ state: [row], events: [pinned], result: undefined }), { by })
      await block(storage, id, other, { by })
      const { items } = await storage.events.list({ repositoryId: id }, { from: { page: 1 }, limit: 10 })

      expect(await storage.pinBoards.load(board)).toEqual([row])
      expect(await issuesOn(storage, { ...BOARD, repositoryId: other })).toEqual([])
      expect(await storage.blocks.among(id, [id, other])).toEqual(new Set([other]))
      expect(items.map(({ issueId, actorId }) => [issueId, actorId])).toEqual([[id, id]])
    })

    // docs/storage.md promises it: by the version, a snapshot that is older than a change notices it.
    test('a change that alters nothing else of its head raises the version', async () => {
      const database = await created()
      const storage = await database.migrated()
      for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
      const head = async () => (await database.run("select * from forgelet_heads where scope = 'issueBoard'"))[0]
      const before = await head()
      const version = Number(before?.['version'])
      await moveToFront(storage, BOARD, '2')

      // On MariaDB the lock raises it too, once the head exists.
      expect(version).toBe(kind.name === 'MariaDB' ? 3 : 2)
      const raised = version + (kind.name === 'MariaDB' ? 2 : 1)
      expect(await head()).toEqual({ ...before, version: expect.toSatisfy((now) => Number(now) === raised) })
    })

    test('plain SQL reads pins, blocks and grants in the views, and joins them with tables of the host', async () => {
      const database = await created()
      const storage = await database.migrated()
      await database.run('create table issues (id bigint primary key, title varchar(99))')
      await database.run("insert into issues values (2, 'Read this first')")
      for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
      await block(storage, '20', '30', { note: 'spam' })
      const key = { blockerId: '31', userId: '30' }
      const state = { note: 'rude', blockedAt: NOON, blockedBy: '7', ...key }
      await change(storage.userBlocks, key, () => ({ state, events: [], result: undefined }))
      await define(storage, 'night-owl')
      await grant(storage, '30', ['night-owl'])
      /** Drivers read whole numbers as numbers, as texts or as bigints. */
      const rows = async (sql: string) =>
        (await database.run(sql)).map((row) =>
          Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])),
        )

      const at = String(NOON.getTime())
      const pinned = { repository_id: '10', kind: 'issue', pinned_at: at, pinned_by: '7' }
      expect(await rows('select * from forgelet_pins order by position')).toEqual([
        { ...pinned, issue_id: '1', position: '1' },
        { ...pinned, issue_id: '2', position: '2' },
      ])
      expect(await rows('select * from forgelet_blocks')).toEqual([
        { organization_id: '20', user_id: '30', note: 'spam', blocked_at: at, blocked_by: '7' },
      ])
      expect(await rows('select * from forgelet_user_blocks')).toEqual([
        { blocker_id: '31', user_id: '30', note: 'rude', blocked_at: at, blocked_by: '7' },
      ])
      expect(await rows('select * from forgelet_badge_grants')).toEqual([
        { user_id: '30', badge_id: '1', slug: 'night-owl', granted_at: at, granted_by: '7' },
      ])
      expect(await rows('select title, position from issues inner join forgelet_pins on issue_id = issues.id')).toEqual(
        [{ title: 'Read this first', position: '2' }],
      )
    })
  })
}
