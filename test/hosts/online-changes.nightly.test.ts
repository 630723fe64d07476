import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { MARIADB, newDatabase, onServer, POSTGRES, SERVERS } from '../databases.ts'
import { describeWith, programPath } from '../programs.ts'

// What programs that change or compact a large table while it is used do to what follows it: see docs/databases.md.

const run = promisify(execFile)
const board = { repositoryId: '10', kind: 'issue' } as const
const tables = {
  users: { table: 'users', name: 'username', where: "username <> 'ghost'" },
  organizations: { table: 'orgs', name: 'slug' },
  members: { table: 'members', organization: 'org_id', user: 'user_id' },
  repositories: { table: 'repos', owner: { organization: 'org_id' } },
  issues: { table: 'issues', repository: 'repo_id', number: 'number' },
}
const TABLES = [
  'create table users (id bigint primary key, username varchar(50))',
  'create table orgs (id bigint primary key, slug varchar(50))',
  'create table members (org_id bigint references orgs (id), user_id bigint references users (id), primary key (org_id, user_id))',
  'create table repos (id bigint primary key, org_id bigint, name varchar(50))',
  'create table issues (id bigint primary key, repo_id bigint, number bigint)',
  "insert into users values (1, 'mia'), (2, 'sam')",
  "insert into orgs values (5, 'acme')",
  'insert into members values (5, 1)',
  "insert into repos values (10, 5, 'rocket')",
  'insert into issues values (100, 10, 1), (101, 10, 2), (102, 10, 3)',
]

describeWith(['pt-online-schema-change'], 'pt-online-schema-change', () => {
  onServer(SERVERS.mariadb, () => {
    test('it renames the keys to a table that it makes again, and they are found, by every later change too', async () => {
      const database = await newDatabase(MARIADB)
      await database.runAll(TABLES)
      const storage = await database.migrated({ tables })
      for (const id of ['100', '101']) await pin(storage, board, id)
      await block(storage, '5', '2')
      const { hostname, port, username, password, pathname } = new URL(database.url)
      const change = (table: string, column: string, ...more: readonly string[]) =>
        run('pt-online-schema-change', [
          ...['--execute', '--no-version-check', '--alter', `add column ${column} int`, ...more],
          `h=${hostname},P=${port},u=${username},${password === '' ? '' : `p=${decodeURIComponent(password)},`}D=${pathname.slice(1)},t=${table}`,
        ])
      const keys = () =>
        database.run(
          "select constraint_name from information_schema.referential_constraints where constraint_schema = database() and constraint_name like '%forgelet%'",
        )
      const { length } = await keys()
      for (let at = 1; at <= 4; at += 1) {
        for (const table of ['issues', 'users'])
          await change(table, `added${at}`, '--alter-foreign-keys-method', 'rebuild_constraints')
        await change('members', `added${at}`, '--preserve-triggers')
        expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
        await storage.migrate()
        expect(await keys()).toHaveLength(length)
      }

      await pin(storage, board, '102')
      await database.run('delete from issues where id = 100')
      expect(await issuesOn(storage, board)).toEqual(['101', '102'])
      await expect(database.run('insert into members (org_id, user_id) values (5, 2)')).rejects.toThrow(
        'blocks this user',
      )
      const without = database.storage({ tables: { ...tables, keys: false } })
      await without.migrate()
      expect((await keys()).filter(({ constraint_name: name }) => /_fk$/.test(String(name)))).toEqual([])
    }, 120_000)
  })
})

describeWith(['pg_repack'], 'pg_repack', () => {
  onServer(SERVERS.postgres, () => {
    test('it leaves all that follows a table where it was', async () => {
      const database = await newDatabase(POSTGRES)
      await database.runAll([...TABLES, 'create extension pg_repack'])
      const storage = await database.migrated({ tables })
      for (const id of ['100', '101']) await pin(storage, board, id)
      await block(storage, '5', '2')
      const { hostname, port, username, password, pathname } = new URL(database.url)
      const env = { ...process.env, PGPASSWORD: decodeURIComponent(password) }
      await run(
        String(programPath('pg_repack')),
        ['-h', hostname, '-p', port, '-U', username, '-d', pathname.slice(1)],
        { env },
      )
      expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
      await database.run('delete from issues where id = 100')
      expect(await issuesOn(storage, board)).toEqual(['101'])
      await expect(database.run('insert into members values (5, 2)')).rejects.toThrow('blocks this user')
    }, 120_000)
  })
})
