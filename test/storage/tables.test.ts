import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { HostTables } from '../../src/storage/storage.ts'
import { issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { newDatabase, PGLITE, SQLITE } from '../databases.ts'
import { raceWithHost } from './tables-races.ts'
import { removalsSuite, retirementsSuite } from './tables-removals.ts'
import type { HostDialect } from './tables-suite.ts'
import { HOST_TABLES, hostRows, hostTables, tablesSuite } from './tables-suite.ts'

const SQLITE_HOST: HostDialect = {
  name: 'SQLite',
  serial: 'integer primary key',
  integer: 'integer',
  text: 'text',
  generated: 'virtual',
  keys: { bigint: 'integer', text: 'text' },
  drops: "select 'drop trigger ' || name as statement from sqlite_master where type = 'trigger'",
  odd: ['integer', '1700000000123456', '1700000000123456789'], // micro- and nanoseconds
  fills: [
    'create trigger fill after insert on host_roles begin update host_roles set org_id = 5 where rowid = new.rowid; end',
  ],
}

describe('on SQLite', () => {
  tablesSuite(SQLITE, SQLITE_HOST)
  removalsSuite(SQLITE, SQLITE_HOST)
  retirementsSuite(SQLITE)

  const { where: _, ...issues } = HOST_TABLES.issues
  const opened = async (tables: HostTables) => {
    const database = await newDatabase(SQLITE)
    for (const statement of [...hostTables(SQLITE_HOST), ...hostRows()]) await database.run(statement)
    return { database, storage: await database.migrated({ tables }) }
  }
  const board = { repositoryId: '10', kind: 'issue' } as const
  const rebuilding = (table: string) => [
    ...hostTables(SQLITE_HOST)
      .filter((made) => made.startsWith(`create table ${table} `))
      .map((made) => made.replace(table, 'host_new')),
    `insert into host_new select * from ${table}`,
    `drop table ${table}`,
    `alter table host_new rename to ${table}`,
  ]

  test.each(['on', 'off'])('a table that the host rebuilds keeps its pins, with foreign_keys %s', async (pragma) => {
    const { database, storage } = await opened({ ...HOST_TABLES, issues })
    for (const id of ['100', '101', '102']) await pin(storage, board, id)
    await database.runAll([`pragma foreign_keys = ${pragma}`, 'begin', ...rebuilding('host_issues'), 'commit'])
    expect(await issuesOn(storage, board)).toEqual(['100', '101', '102'])
    expect((await storage.schemaStatus()).state).toBe('drifted')
    await database.run('delete from host_issues where id = 101') // no trigger: the pin stays behind
    await storage.migrate()
    expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
    await database.run('delete from host_issues where id = 100')
    expect(await issuesOn(storage, board)).toEqual(['102'])
  })

  test.each([
    ['host_issues', 'pins'],
    ['host_users', 'blocks'],
  ])('%s, which has a condition, is rebuilt without the views, which migrate() makes again', async (table, view) => {
    const rebuilt = rebuilding(table)
    const { database, storage } = await opened(HOST_TABLES)
    await pin(storage, board, '100')
    const { run } = await database.connect()
    for (const statement of ['pragma foreign_keys = off', 'begin', ...rebuilt.slice(0, -1)]) await run(statement)
    await expect(run(String(rebuilt.at(-1)))).rejects.toThrow(`error in view forgelet_${view}`)
    await run('rollback')
    const views = ['pins', 'blocks', 'user_blocks', 'badge_grants'].map((name) => `drop view forgelet_${name}`)
    await database.runAll(['pragma foreign_keys = off', 'begin', ...views, ...rebuilt, 'commit'])
    expect((await storage.schemaStatus()).state).toBe('drifted')
    await storage.migrate()
    expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
    expect(await database.run('select issue_id from forgelet_pins')).toEqual([{ issue_id: 100 }])
  })

  test.each([true, false])(
    'views that follow a table under its new name are seen and made again, keys: %s',
    async (keys) => {
      const { database, storage } = await opened({ ...HOST_TABLES, keys })
      for (const id of ['100', '101']) await pin(storage, board, id)
      const [made = ''] = hostTables(SQLITE_HOST).filter((each) => each.startsWith('create table host_issues '))
      await database.runAll([
        'alter table host_issues rename to host_old',
        made,
        'insert into host_issues select * from host_old',
      ])
      const { state, warnings } = await storage.schemaStatus()
      expect([state, warnings]).toEqual([
        'drifted',
        expect.arrayContaining(['forgelet_pins reads other tables: call migrate()']),
      ])
      await database.run('drop table host_old')
      expect((await storage.schemaStatus()).state).toBe('drifted')

      await storage.migrate()
      expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
      await database.run('update host_issues set trashed = 1 where id = 100')
      expect(await database.run('select issue_id from forgelet_pins')).toEqual([{ issue_id: 101 }])
      expect(await issuesOn(storage, board)).toEqual(['101'])
    },
  )

  test('generated columns, and keys of the type UUID, fit', async () => {
    const database = await newDatabase(SQLITE)
    await database.run(
      `create table host_users (id uuid primary key, email text, name text generated always as (substr(email, 1, instr(email, '@') - 1)) virtual)`,
    )
    await database.run("insert into host_users values ('0b1c1e0a-1111-4222-8333-abcdefabcdef', 'mia@example.com')")
    const storage = await database.migrated({ ids: { user: 'uuid' }, tables: { users: { table: 'host_users' } } })
    expect(await storage.host?.findAccount?.('mia', {})).toMatchObject({ id: '0b1c1e0a-1111-4222-8333-abcdefabcdef' })
  })

  test.each(['aside', undefined])('tables in an attached database are not found, in the schema %s', async (schema) => {
    const database = new Database(':memory:')
    onTestFinished(() => void database.close())
    database.exec("attach ':memory:' as aside")
    database.exec(`create table aside.host_users (id integer primary key, name text)`)
    const storage = sqliteStorage(database, { tables: { users: { table: 'host_users', schema } } })
    await expect(storage.migrate()).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringMatching(/tables\.users\.table: the database has no table (\w+\.)?host_users$/),
    })
  })

  test('a row that insert or replace removes by another key leaves an orphan, which migrate() removes', async () => {
    const { database, storage } = await opened({ ...HOST_TABLES, issues })
    for (const id of ['100', '101']) await pin(storage, board, id)
    await database.run('insert or replace into host_issues (id, repo_id, number) values (100, 10, 1)')
    expect(await issuesOn(storage, board)).toEqual(['100', '101'])
    await database.run('insert or replace into host_issues (id, repo_id, number) values (500, 10, 2)')
    expect(await storage.schemaStatus()).toEqual({
      state: 'drifted',
      warnings: ['forgelet_board_pins refers to rows of host_issues that are gone: call migrate()'],
    })
    await storage.migrate()
    expect(await issuesOn(storage, board)).toEqual(['100'])

    await database.runAll([
      'pragma recursive_triggers = on',
      'insert or replace into host_issues (id, repo_id, number) values (501, 10, 1)',
    ])
    expect(await issuesOn(storage, board)).toEqual([])
  })

  test('changes that race with what the host deletes and adds leave nothing wrong', { timeout: 300_000 }, async () => {
    const rounds = process.env['LONG'] === '1' ? 200 : 8
    await raceWithHost(SQLITE, SQLITE_HOST, { rounds, settings: ['pragma busy_timeout = 0'] })
  })
})

test('a column of members that PostgreSQL 18 computes when it is read is refused, because no trigger sees it', async () => {
  const database = await newDatabase(PGLITE)
  const made = [
    'host_users (id bigint primary key, username text)',
    'host_orgs (id bigint primary key, slug text)',
    'host_roles (of_org bigint, org_id bigint generated always as (of_org) virtual, user_id bigint)',
  ]
  for (const table of made) await database.run(`create table ${table}`)
  const { users, organizations } = HOST_TABLES
  const tables = { users: { table: users.table, name: 'username' }, organizations }
  const members = { table: 'host_roles', organization: 'org_id', user: 'user_id' }
  await expect(database.migrated({ tables: { ...tables, members } })).rejects.toThrow(
    "host_roles computes org_id when it is read, so that no trigger can refuse a member: set check: 'none'",
  )
  await database.migrated({ tables: { ...tables, members: { ...members, organization: 'of_org' } } })
})
