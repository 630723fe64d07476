import { expect, onTestFinished, test } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { whileWaiting } from '../../src/testing/storage-contract/cases/gate.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import { issuesOn, moveToFront, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { MARIADB, newDatabase, onServer, POSTGRES, pgConnection, SERVERS } from '../databases.ts'
import { raceWithHost } from './tables-races.ts'
import { removalsSuite, retirementsSuite } from './tables-removals.ts'
import type { HostDialect } from './tables-suite.ts'
import { HOST_TABLES, hostRows, hostTables, tablesSuite } from './tables-suite.ts'

const ROUNDS = process.env['LONG'] === '1' ? 200 : 18
const POSTGRES_HOST: HostDialect = {
  name: 'PostgreSQL',
  serial: 'integer primary key',
  integer: 'integer',
  text: 'text',
  keys: { bigint: 'smallint', text: 'varchar(50)', uuid: 'uuid' },
  drops: `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
    from pg_constraint where conname like 'forgelet%fk' union all
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) from pg_trigger where not tgisinternal`,
}
const MARIADB_HOST: HostDialect = {
  name: 'MariaDB',
  serial: 'int unsigned primary key',
  integer: 'int unsigned',
  text: 'varchar(100) collate utf8mb4_bin',
  keys: { bigint: 'mediumint', text: 'varchar(50)', uuid: 'uuid' },
  drops: `select concat('alter table ', table_name, ' drop foreign key ', constraint_name) as statement
    from information_schema.referential_constraints where constraint_schema = database() and constraint_name like 'forgelet%fk'
    union all select concat('drop trigger ', trigger_name) from information_schema.triggers where trigger_schema = database()`,
}
const RACES = 'changes that race with what the host deletes and adds leave nothing wrong'

onServer(SERVERS.postgres, (server) => {
  const withAdmin = async (work: (run: (sql: string) => Promise<unknown>) => Promise<unknown>) => {
    const admin = await pgConnection(server)
    await work((sql) => admin.run(sql))
    await admin.end()
  }

  tablesSuite(POSTGRES, POSTGRES_HOST)
  removalsSuite(POSTGRES, POSTGRES_HOST)
  retirementsSuite(POSTGRES)

  test('a new member is looked for in the tables that the migration saw, with any search_path', async () => {
    const database = await newDatabase(POSTGRES)
    for (const statement of hostTables(POSTGRES_HOST)) await database.run(statement)
    const members = { ...HOST_TABLES.members, where: "role <> 'left'" }
    const storage = await database.migrated({ schema: 'forge', tables: { ...HOST_TABLES, members } })
    await database.runAll([
      "insert into host_users (id, username) values (1, 'mia')",
      "insert into host_orgs (id, slug) values (5, 'acme')",
    ])
    const block = { organizationId: '5', userId: '1' }
    const { run } = await database.connect()
    await run("set search_path = ''")
    await run("insert into public.host_members values (5, 1, 'left')")
    await run("update public.host_members set role = 'member'")
    expect(await storage.host?.isMember?.(block, {})).toBe(true)
  })

  test('the user of an application needs no privileges of a migration', async () => {
    const role = `forgelet_app_${Date.now()}`
    onTestFinished(() => withAdmin((run) => run(`drop role ${role}`))) // after the database, which is dropped first
    const database = await newDatabase(POSTGRES)
    for (const statement of [...hostTables(POSTGRES_HOST), ...hostRows()]) await database.run(statement)
    await database.migrated({ tables: HOST_TABLES })
    await database.run(`create role ${role} login`)
    for (const privileges of ['select, insert, update, delete on all tables', 'usage on all sequences'])
      await database.run(`grant ${privileges} in schema public to ${role}`)
    const url = Object.assign(new URL(database.url), { username: role }).href
    const storage = database.closing(postgresStorage(url, { tables: HOST_TABLES }))

    await storage.migrate()
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await pin(storage, { repositoryId: '10', kind: 'issue' }, '100')).toBe(1)
  })

  test('a second forge, in another schema, is refused by name where it would follow the same members', async () => {
    const database = await newDatabase(POSTGRES)
    for (const statement of hostTables(POSTGRES_HOST)) await database.run(statement)
    await database.migrated({ tables: HOST_TABLES })

    await expect(database.migrated({ schema: 'forge', tables: HOST_TABLES })).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringContaining('another forge follows the same table'),
      details: { name: 'forgelet_members_not_blocked' },
    })
    expect(await database.run("select from information_schema.tables where table_schema = 'forge'")).toEqual([])
    await database.migrated({ schema: 'forge', prefix: 'other_', tables: HOST_TABLES })
  })

  test('a condition that the database refuses is shown with what the database says', async () => {
    const database = await newDatabase(POSTGRES)
    for (const statement of hostTables(POSTGRES_HOST)) await database.run(statement)
    await database.run('alter table host_users add column "deletedAt" timestamp')
    const users = { ...HOST_TABLES.users, where: 'deletedAt is null' }

    await expect(database.migrated({ tables: { ...HOST_TABLES, users } })).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringMatching(
        /tables\.users\.where: .* column "deletedat" does not exist.*"host_users\.deletedAt"/,
      ),
    })
  })

  test('a host that deletes slowly, in any order, is not ended in favour of a change', async () => {
    const database = await newDatabase(POSTGRES)
    for (const statement of hostTables(POSTGRES_HOST)) await database.run(statement)
    for (const statement of hostRows()) await database.run(statement)
    const storage = await database.migrated({ tables: HOST_TABLES })
    const board = { repositoryId: '10', kind: 'issue' } as const
    for (const id of ['100', '101', '102']) await pin(storage, board, id)
    const host = await database.connect()
    await host.run('begin')
    await host.run('delete from host_issues where id = 102')
    const moving = outcomeOf(() => moveToFront(storage, board, '102'))
    await whileWaiting(moving, 1500) // longer than the server waits before it looks for a deadlock
    await host.run('delete from host_issues where id = 100')
    await host.run('commit')
    await moving
    expect(await issuesOn(storage, board)).toEqual(['101'])
  })

  test('a table with its schema in its name is missing, and the option for the schema is named', async () => {
    const users = { table: 'public.host_users', name: 'username' }
    const database = await newDatabase(POSTGRES)
    for (const statement of hostTables(POSTGRES_HOST)) await database.run(statement)
    await expect(database.migrated({ tables: { users } })).rejects.toThrow(
      "tables.users.schema: { schema: 'public', table: 'host_users' }",
    )
    await database.migrated({ tables: { users: { ...users, schema: 'public', table: 'host_users' } } })
  })

  test('a key that is deferrable is refused by name, because no foreign key can refer to it', async () => {
    const database = await newDatabase(POSTGRES)
    const serial = 'integer primary key deferrable'
    await database.run(`create table host_users (id ${serial}, username text)`)
    const users = { table: 'host_users', name: 'username' }
    await expect(database.migrated({ tables: { users } })).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringContaining('host_users.id is neither the primary key nor unique'),
    })
  })

  test.each(['READ COMMITTED', 'SERIALIZABLE'])(`${RACES}, at %s`, { timeout: 300_000 }, async (level) => {
    const settings = [`set session characteristics as transaction isolation level ${level}`]
    const { ofHost } = await raceWithHost(POSTGRES, POSTGRES_HOST, { rounds: ROUNDS, settings })
    expect(ofHost).toBe(0)
  })
})

onServer(SERVERS.mariadb, () => {
  tablesSuite(MARIADB, MARIADB_HOST)

  test('the user of an application needs no privileges of a migration', async () => {
    const database = await newDatabase(MARIADB)
    for (const statement of [...hostTables(MARIADB_HOST), ...hostRows()]) await database.run(statement)
    await database.migrated({ tables: HOST_TABLES })
    const user = `app_${Date.now()}`
    await database.run(`create user ${user}`)
    const url = new URL(database.url)
    await database.run(`grant select, insert, update, delete on ${url.pathname.slice(1)}.* to ${user}`)
    const own = Object.assign(url, { username: user }).href
    const storage = database.closing(mariadbStorage(own, { tables: HOST_TABLES }))

    await storage.migrate()
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await pin(storage, { repositoryId: '10', kind: 'issue' }, '100')).toBe(1)
    await database.run(`drop user ${user}`)
  })
  removalsSuite(MARIADB, MARIADB_HOST)
  retirementsSuite(MARIADB)

  test('tables follow those of the host although processes without tables add orphans meanwhile', async () => {
    const database = await newDatabase(MARIADB)
    for (const statement of hostTables(MARIADB_HOST)) await database.run(statement)
    const before = await database.migrated()
    let isMigrating = true
    const adding = ['1', '2', '3'].map(async (n) => {
      for (let at = 0; isMigrating; at += 1) {
        await outcomeOf(() => pin(before, { repositoryId: `${n}${at}`, kind: 'issue' }, `${n}${at}`))
      }
    })
    const storage = await database.migrated({ tables: HOST_TABLES }).finally(() => {
      isMigrating = false
    })
    await Promise.all(adding)
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await database.run('select * from forgelet_board_pins')).toEqual([])
  })

  test.each(['REPEATABLE READ', 'READ COMMITTED', 'SERIALIZABLE'])(
    `${RACES}, at %s`,
    { timeout: 300_000 },
    async (level) => {
      const settings = [`set session transaction isolation level ${level}`]
      const { ofHost } = await raceWithHost(MARIADB, MARIADB_HOST, { rounds: ROUNDS, settings })
      expect(ofHost).toBeLessThan(ROUNDS)
    },
  )
})
