import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { presentTables } from '../../src/http-adapters/http.ts'
import { createForge, rolePolicy, tableRoles } from '../../src/index.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { whileWaiting } from '../../src/testing/storage-contract/cases/gate.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { issuesOn, moveToFront, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import type { DatabaseKind, TestDatabase } from '../databases.ts'
import { MARIADB, newDatabase, onServer, POSTGRES, pgConnection, runOnce, SERVERS } from '../databases.ts'
import { raceWithHost } from './tables-races.ts'
import { removalsSuite, retirementsSuite } from './tables-removals.ts'
import type { HostDialect } from './tables-suite.ts'
import { HOST_TABLES, hostRows, hostTables, tablesSuite } from './tables-suite.ts'

const IS_LONG = process.env['LONG'] === '1'
/** Each deletion of the host is in eight rounds once. */
const ROUNDS = IS_LONG ? 200 : 8
const POSTGRES_HOST: HostDialect = {
  name: 'PostgreSQL',
  serial: 'integer primary key',
  integer: 'integer',
  text: 'text',
  generated: 'stored', // until 18
  keys: { bigint: 'smallint', text: 'varchar(50)', uuid: 'uuid' },
  drops: `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
    from pg_constraint where conname like 'forgelet%fk' union all
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) from pg_trigger where not tgisinternal`,
  odd: ['timestamptz', "'infinity'", "'-infinity'", "'0044-03-15 BC'"],
  fills: [
    'create function fill() returns trigger language plpgsql as $$ begin new.org_id := 5; return new; end $$',
    'create trigger set_organization before insert on host_roles for each row execute function fill()',
  ],
}
const MARIADB_HOST: HostDialect = {
  name: 'MariaDB',
  serial: 'int unsigned primary key',
  integer: 'int unsigned',
  text: 'varchar(100) collate utf8mb4_bin',
  generated: 'virtual',
  keys: { bigint: 'mediumint', text: 'varchar(50)', uuid: 'uuid' },
  drops: `select concat('alter table ', table_name, ' drop foreign key ', constraint_name) as statement
    from information_schema.referential_constraints where constraint_schema = database() and constraint_name like 'forgelet%fk'
    union all select concat('drop trigger ', trigger_name) from information_schema.triggers where trigger_schema = database()`,
  odd: ['datetime', "'0000-00-00 00:00:00'"],
  fills: ['create trigger fill before insert on host_roles for each row set new.org_id = 5'],
}
const RACES = 'changes that race with what the host deletes and adds leave nothing wrong'

/** A database with the tables of the host, and their rows. */
async function withHost<Tx>(kind: DatabaseKind<Tx>, dialect: HostDialect): Promise<TestDatabase<Tx>> {
  const database = await newDatabase(kind)
  for (const statement of [...hostTables(dialect), ...hostRows()]) await database.run(statement)
  return database
}

/** Rows that a host deletes while the checks of its keys are switched off, as dumps and the resets of tests do. */
function uncheckedSuite<Tx>(kind: DatabaseKind<Tx>, dialect: HostDialect, off: string, on: string): void {
  test('what refers to rows that are deleted while keys are not checked is named, and migrate() removes it', async () => {
    const database = await withHost(kind, dialect)
    const storage = await database.migrated({ tables: HOST_TABLES })
    const board = { repositoryId: '10', kind: 'issue' } as const
    for (const id of ['100', '101']) await pin(storage, board, id)
    const { run } = await database.connect()
    for (const statement of [off, 'delete from host_issues where id = 100', on]) await run(statement)

    expect(await storage.schemaStatus()).toEqual({
      state: 'drifted',
      warnings: ['forgelet_board_pins refers to rows of host_issues that are gone: call migrate()'],
    })
    await storage.migrate()
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    await database.run("insert into host_issues (id, repo_id, number, title) values (100, 10, 1, 'another')")
    expect(await issuesOn(storage, board)).toEqual(['101'])
  })
}

/** A table that the host has moved elsewhere under its own name, as to an archive, while a new one takes its place. */
function movedSuite<Tx>(
  kind: DatabaseKind<Tx>,
  dialect: HostDialect,
  moving: () => Promise<{ readonly statements: readonly string[]; readonly place: string }>,
): void {
  test.each([true, false])(
    'keys and views that stay with a table in another schema are seen and moved, keys: %s',
    async (keys) => {
      const { statements, place } = await moving()
      const database = await withHost(kind, dialect)
      const storage = await database.migrated({ tables: { ...HOST_TABLES, keys } })
      const board = { repositoryId: '10', kind: 'issue' } as const
      await pin(storage, board, '100')
      await database.runAll([
        ...statements,
        ...hostTables(dialect).slice(-1),
        `insert into host_issues select * from ${place}.host_issues`,
        "insert into host_issues (id, repo_id, number, title) values (300, 10, 300, 'new')",
      ])
      // A view of MariaDB reads what has the name, and without keys nothing else refers to the table.
      const isFollowed = keys || dialect.name === 'PostgreSQL'
      expect((await storage.schemaStatus()).state).toBe(isFollowed ? 'drifted' : 'current')
      await storage.migrate()
      expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
      await pin(storage, board, '300')
      await database.run(`drop table ${place}.host_issues`)
      await database.run('update host_issues set trashed = 1 where id = 100')
      expect(await database.run('select issue_id from forgelet_pins')).toEqual([
        { issue_id: dialect.name === 'PostgreSQL' ? '300' : 300 },
      ])
    },
  )
}

onServer(SERVERS.postgres, (server) => {
  tablesSuite(POSTGRES, POSTGRES_HOST)
  movedSuite(POSTGRES, POSTGRES_HOST, async () => ({
    statements: ['create schema archive', 'alter table host_issues set schema archive'],
    place: 'archive',
  }))
  uncheckedSuite(POSTGRES, POSTGRES_HOST, 'set session_replication_role = replica', 'reset session_replication_role')
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

  test.each([undefined, 'forge'])(
    'the trigger on members that names a schema of before is seen and made again, with the tables of the forge in %s',
    async (schema) => {
      const database = await withHost(POSTGRES, POSTGRES_HOST)
      const members = { ...HOST_TABLES.members, where: "role <> 'left'" }
      const tables = { ...HOST_TABLES, members }
      await block(await database.migrated({ schema, tables }), '5', '2')
      const name = new URL(database.url).pathname.slice(1)
      await database.runAll([
        `alter schema ${schema ?? 'public'} rename to renamed`,
        `alter database ${name} set search_path = ${schema === undefined ? 'renamed' : 'public'}`,
      ])
      const storage = database.storage({ schema: schema && 'renamed', tables })

      expect(await storage.schemaStatus()).toEqual({
        state: 'drifted',
        warnings: ['forgelet_members_not_blocked is missing: call migrate()'],
      })
      await storage.migrate()
      expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
      const { run } = await database.connect()
      await run("insert into host_members values (5, 4, 'member')")
      await expect(run("insert into host_members values (5, 2, 'member')")).rejects.toThrow('blocks this user')
    },
  )

  test.each([undefined, 'forge'])(
    'members are added by a role with a schema of its own, beside those of the forge in %s',
    async (schema) => {
      const [owner, adder] = ['owner', 'adder'].map((name) => `forgelet_${name}_${Date.now()}`)
      onTestFinished(async () => void (await runOnce(pgConnection, server, `drop role ${owner}, ${adder}`)))
      const database = await newDatabase(POSTGRES)
      for (const role of [owner, adder])
        await database.runAll([`create role ${role} login`, `create schema authorization ${role}`])
      await database.run(`create schema forge authorization ${owner}`)
      const { run } = await database.connect()
      await run(`set session authorization ${owner}`) // whose tables are in the schema with its name
      for (const statement of [...hostTables(POSTGRES_HOST), ...hostRows()]) await run(statement)
      const url = Object.assign(new URL(database.url), { username: owner }).href
      const members = { ...HOST_TABLES.members, where: "role <> 'left'" }
      const tables = { ...HOST_TABLES, members }
      const storage = database.closing(postgresStorage(url, { tables, ...(schema && { schema }) }))
      await storage.migrate()
      await block(storage, '5', '2')
      await run(`grant usage on schema ${owner} to ${adder}`)
      await run(`grant insert on ${owner}.host_members to ${adder}`)

      await run('reset session authorization')
      await run(`set session authorization ${adder}`)
      await expect(run(`insert into ${owner}.host_members values (5, 2, 'new')`)).rejects.toThrow('blocks this user')
      await run(`insert into ${owner}.host_members values (5, 4, 'new')`)
      expect(await storage.host?.isMember?.({ organizationId: '5', userId: '4' }, {})).toBe(true)
    },
  )

  test('the user of an application needs no privileges of a migration', async () => {
    const role = `forgelet_app_${Date.now()}`
    onTestFinished(async () => void (await runOnce(pgConnection, server, `drop role ${role}`))) // after the database, which is dropped first
    const database = await withHost(POSTGRES, POSTGRES_HOST)
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

  test('privileges on the columns that it needs suffice for the user who migrates', async () => {
    const role = `forgelet_columns_${Date.now()}`
    onTestFinished(async () => void (await runOnce(pgConnection, server, `drop role ${role}`)))
    const database = await withHost(POSTGRES, POSTGRES_HOST)
    const { users } = HOST_TABLES
    await database.runAll([
      'alter table host_users add column password text',
      `create role ${role} login`,
      `create schema forge authorization ${role}`,
      `grant select (id, username, full_name, deleted_at), update (id), references (id) on host_users to ${role}`,
    ])
    const url = Object.assign(new URL(database.url), { username: role }).href
    const opened = (more: object) =>
      database.closing(postgresStorage(url, { schema: 'forge', tables: { users: { ...users, ...more } } }))
    await expect(opened({ email: 'password' }).migrate()).rejects.toThrow('the user lacks SELECT for host_users')
    const storage = opened({})
    await storage.migrate()
    await block(storage, '5', '2')
    expect(await storage.host?.findAccount?.('sam', {})).toEqual({ kind: 'user', id: '2' })
    expect(await storage.blocks.among('5', ['2'])).toEqual(new Set(['2']))
    await database.run('delete from host_users where id = 2')
    expect(await storage.blocks.among('5', ['2'])).toEqual(new Set())
  })

  test('a second forge, in another schema, is refused by name where it would follow the same members', async () => {
    const database = await withHost(POSTGRES, POSTGRES_HOST)
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
    const database = await withHost(POSTGRES, POSTGRES_HOST)
    await database.run('alter table host_users add column "deletedAt" timestamp')
    const users = { ...HOST_TABLES.users, where: 'deletedAt is null' }

    await expect(database.migrated({ tables: { ...HOST_TABLES, users } })).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringMatching(/tables\.users\.where: .* column "deletedat" does not exist.*"a_row\.deletedAt"/),
    })
  })

  test.each(['text', 'bigint', 'boolean'])(
    'columns of the type %s are refused by name where ids, numbers or times are read',
    async (type) => {
      const database = await withHost(POSTGRES, POSTGRES_HOST)
      await database.run(`alter table host_issues add column odd ${type}`)
      const migrating = (option: string) =>
        database.migrated({ tables: { ...HOST_TABLES, issues: { ...HOST_TABLES.issues, [option]: 'odd' } } })
      const options = type === 'bigint' ? [] : ['repository', 'number', 'author']
      for (const option of options)
        await expect(migrating(option)).rejects.toThrow(
          `tables.issues.${option}: the database refuses to compare host_issues.odd`,
        )
      for (const option of ['createdAt', 'updatedAt'])
        await expect(migrating(option)).rejects.toThrow(
          `tables.issues.${option}: host_issues.odd is ${type}, and not a time: name a column of times, such as a generated one, or leave it out`,
        )
    },
  )

  test('a client that rewrites the names of columns finds the rows of the host', async () => {
    const database = await withHost(POSTGRES, POSTGRES_HOST)
    const sql = postgres(database.url, { transform: postgres.camel, onnotice: () => {} })
    onTestFinished(() => sql.end())
    const storage = postgresStorage(sql, { tables: HOST_TABLES })
    await storage.migrate()
    const board = { repositoryId: '10', kind: 'issue' } as const
    expect(await issuesOn(storage, board)).toEqual([])
    await pin(storage, board, '100')
    expect(await issuesOn(storage, board)).toEqual(['100'])
  })

  test('rows that row-level security hides are not taken for deleted ones', async () => {
    const role = `forgelet_limited_${Date.now()}`
    onTestFinished(async () => void (await runOnce(pgConnection, server, `drop role ${role}`)))
    const database = await withHost(POSTGRES, POSTGRES_HOST)
    const storage = await database.migrated({ tables: HOST_TABLES })
    const board = { repositoryId: '10', kind: 'issue' } as const
    await pin(storage, board, '100')
    await database.runAll([
      `create role ${role} login`,
      'alter table host_issues enable row level security',
      `grant all on all tables in schema public to ${role}`,
      'drop trigger forgelet_members_not_blocked on host_members',
    ])
    const url = Object.assign(new URL(database.url), { username: role }).href
    const limited = database.closing(postgresStorage(url, { tables: HOST_TABLES }))

    expect((await limited.schemaStatus()).warnings).toEqual(['forgelet_members_not_blocked is missing: call migrate()'])
    await expect(limited.migrate()).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringContaining('tables.issues: the user lacks BYPASSRLS for host_issues'),
    })
    expect(await limited.pinBoards.load(board)).toEqual([])
    await storage.migrate()
    expect(await issuesOn(storage, board)).toEqual(['100'])
  })

  test('keys and triggers that the host has switched off are seen, and migrate() makes them again', async () => {
    const database = await withHost(POSTGRES, POSTGRES_HOST)
    const storage = await database.migrated({ tables: HOST_TABLES })
    const board = { repositoryId: '10', kind: 'issue' } as const
    for (const id of ['100', '101']) await pin(storage, board, id)
    await block(storage, '5', '2')
    await database.runAll([
      'alter table host_issues disable trigger all', // as around a load
      'alter table host_members enable replica trigger forgelet_members_not_blocked',
    ])
    const missing = (name: string) => `${name} is missing: call migrate()`

    expect(await storage.schemaStatus()).toEqual({
      state: 'drifted',
      warnings: [missing('forgelet_board_pins_issue_id_fk'), missing('forgelet_members_not_blocked')],
    })
    await storage.migrate()
    expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
    await database.run('delete from host_issues where id = 100')
    expect(await issuesOn(storage, board)).toEqual(['101'])
    await expect(database.run("insert into host_members values (5, 2, 'member')")).rejects.toThrow('blocks this user')
  })

  test.each([
    ['the ledger', 'forgelet_ledger'],
    ['every table', 'forgelet_%'],
  ])('row-level security that hides %s of the forge is named', async (_, pattern) => {
    const role = `forgelet_limited_${Date.now()}`
    onTestFinished(async () => void (await runOnce(pgConnection, server, `drop role ${role}`)))
    const database = await withHost(POSTGRES, POSTGRES_HOST)
    await database.migrated()
    await database.runAll([
      `create role ${role} login`,
      `do $$ declare found regclass; begin
        for found in select oid from pg_class where relkind = 'r' and relname like '${pattern}' loop
          execute format('alter table %s enable row level security', found);
        end loop; end $$`,
      `grant all on all tables in schema public to ${role}`,
    ])
    const limited = database.closing(postgresStorage(Object.assign(new URL(database.url), { username: role }).href))
    const why = 'no row of forgelet_ledger mentions'

    expect((await limited.schemaStatus()).warnings).toEqual([
      expect.stringMatching(`${why} the tables: row-level security hides it from this user`),
    ])
    await expect(limited.migrate()).rejects.toThrow(`${why} it: row-level security hides it from this user`)
  })

  test('a blocked user does not become a member where row-level security hides members from who adds them', async () => {
    const [owner, adder] = ['owner', 'adder'].map((name) => `forgelet_${name}_${Date.now()}`)
    onTestFinished(async () => void (await runOnce(pgConnection, server, `drop role ${owner}, ${adder}`)))
    const database = await withHost(POSTGRES, POSTGRES_HOST)
    const members = { ...HOST_TABLES.members, where: "role <> 'invited'" }
    const tables = { ...HOST_TABLES, members }
    const storage = await database.migrated({ tables })
    await block(storage, '5', '2')
    await database.runAll([
      `create role ${adder}`,
      'alter table host_members enable row level security',
      `create policy adding on host_members for insert to ${adder} with check (true)`,
      `grant insert on host_members to ${adder}`,
    ])
    const { run } = await database.connect()
    await run(`set role ${adder}`)
    await expect(run("insert into host_members values (5, 2, 'member')")).rejects.toThrow('blocks this user')
    await run("insert into host_members values (5, 2, 'invited')")
    await run("insert into host_members values (5, 4, 'member')")
    await run('create temporary table seats (org_id integer, user_id integer, role text)')
    const spying =
      'create trigger spy after insert on seats for each row execute function forgelet_members_not_blocked()'
    await expect(run(spying)).rejects.toThrow('permission denied for function')

    await database.runAll([
      `create role ${owner} login`,
      `grant create, usage on schema public to ${owner}`,
      `grant all on all tables in schema public to ${owner}`,
    ])
    const url = Object.assign(new URL(database.url), { username: owner }).href
    const limited = database.closing(postgresStorage(url, { prefix: 'other_', tables: { ...tables, keys: false } }))
    await expect(limited.migrate()).rejects.toThrow('tables.members: the user lacks BYPASSRLS for host_members')
  })

  test('keys of domains fit, and tables that are unlogged or inherited are refused by name', async () => {
    const database = await newDatabase(POSTGRES)
    await database.run("create domain host_id as uuid check (value <> '00000000-0000-0000-0000-000000000000')")
    await database.run('create table host_users (id host_id primary key, username text)')
    const users = { table: 'host_users', name: 'username' }
    const storage = await database.migrated({ ids: { user: 'uuid' }, tables: { users } })
    await database.run("insert into host_users values ('0b1c1e0a-1111-4222-8333-abcdefabcdef', 'mia')")
    expect(await storage.host?.findAccount?.('mia', {})).toMatchObject({ id: '0b1c1e0a-1111-4222-8333-abcdefabcdef' })
    await database.run('create unlogged table host_orgs (id integer primary key, name text)')
    await expect(
      database.migrated({ ids: { user: 'uuid' }, tables: { users, organizations: { table: 'host_orgs' } } }),
    ).rejects.toThrow('host_orgs is unlogged or temporary: set keys: false')
    await database.run('create table host_bots () inherits (host_users)')
    await expect(database.migrated({ ids: { user: 'uuid' }, tables: { users, keys: true } })).rejects.toThrow(
      'host_users has rows in tables that inherit from it: set keys: false',
    )
  })

  test('partitioned tables of users and members are followed, with a condition in quotation marks of dollars', async () => {
    const database = await newDatabase(POSTGRES)
    await database.runAll([
      'create table host_users (id integer primary key, username text) partition by hash (id)',
      'create table host_users_0 partition of host_users for values with (modulus 1, remainder 0)',
      'create table host_orgs (id integer primary key, slug text)',
      'create table host_members (org_id integer, user_id integer, role text) partition by hash (org_id)',
      'create table host_members_0 partition of host_members for values with (modulus 1, remainder 0)',
      "insert into host_users values (2, 'sam')",
      "insert into host_orgs values (5, 'acme')",
    ])
    const tables = {
      users: { table: 'host_users', name: 'username' },
      organizations: HOST_TABLES.organizations,
      members: { ...HOST_TABLES.members, where: 'role <> $$invited$$' },
    }
    const storage = await database.migrated({ tables })
    await block(storage, '5', '2')
    await database.run("insert into host_members values (5, 2, 'invited')")
    await expect(database.run("update host_members set role = 'member'")).rejects.toThrow('blocks this user')
    expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
    await database.run('delete from host_users')
    expect(await database.run('select * from forgelet_organization_blocks')).toEqual([])
  })

  test('a host that deletes slowly, in any order, is not ended in favour of a change', async () => {
    const database = await withHost(POSTGRES, POSTGRES_HOST)
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

  test('a key that is deferrable is refused by name, because no foreign key can refer to it', async () => {
    const database = await newDatabase(POSTGRES)
    await database.run('create table host_users (id integer primary key deferrable, username text)')
    const users = { table: 'host_users', name: 'username' }
    await expect(database.migrated({ tables: { users } })).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringContaining('host_users.id is neither the primary key nor unique'),
    })
  })

  test.each(IS_LONG ? ['READ COMMITTED', 'SERIALIZABLE'] : ['SERIALIZABLE'])(
    `${RACES}, at %s`,
    { timeout: 300_000 },
    async (level) => {
      const settings = [`set session characteristics as transaction isolation level ${level}`]
      const { ofHost } = await raceWithHost(POSTGRES, POSTGRES_HOST, { rounds: ROUNDS, settings })
      expect(ofHost).toBe(0)
    },
  )
})

onServer(SERVERS.mariadb, () => {
  tablesSuite(MARIADB, MARIADB_HOST)
  movedSuite(MARIADB, MARIADB_HOST, async () => {
    const place = new URL((await newDatabase(MARIADB)).url).pathname.slice(1)
    return { statements: [`rename table host_issues to ${place}.host_issues`], place }
  })
  uncheckedSuite(MARIADB, MARIADB_HOST, 'set foreign_key_checks = 0', 'set foreign_key_checks = 1')

  test('the user of an application needs no privileges of a migration', async () => {
    const database = await withHost(MARIADB, MARIADB_HOST)
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

  test('privileges on each table suffice for the user of an application', async () => {
    const database = await withHost(MARIADB, MARIADB_HOST)
    await database.migrated({ tables: HOST_TABLES })
    const [user, url] = [`app_${Date.now()}`, new URL(database.url)]
    await database.run(`create user ${user}`)
    onTestFinished(async () => void (await database.run(`drop user ${user}`)))
    const names = await database.run(
      'select table_name as name from information_schema.tables where table_schema = database()',
    )
    for (const { name } of names) await database.run(`grant select, insert, update, delete on ${name} to ${user}`)
    const own = Object.assign(url, { username: user, password: '' }).href
    const storage = database.closing(mariadbStorage(own, { tables: HOST_TABLES }))

    await storage.migrate()
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await pin(storage, { repositoryId: '10', kind: 'issue' }, '100')).toBe(1)
  })

  test('triggers and views whose definer does not exist, as behind a dump of another server, are seen and made again', async () => {
    const database = await withHost(MARIADB, MARIADB_HOST)
    const [user, { pathname }] = [`deploy_${Date.now()}`, new URL(database.url)]
    await database.runAll([`create user ${user}`, `grant all on ${pathname.slice(1)}.* to ${user}`])
    const own = Object.assign(new URL(database.url), { username: user, password: '' }).href
    const deploying = mariadbStorage(own, { tables: HOST_TABLES })
    await deploying.migrate()
    await deploying.close()
    await database.run(`drop user ${user}`)
    const storage = database.storage({ tables: HOST_TABLES })
    const joining = () => database.run("insert into host_members values (5, 4, 'member')")

    await expect(joining()).rejects.toThrow('definer')
    expect((await storage.schemaStatus()).warnings).toContainEqual(
      expect.stringMatching(/^forgelet_pins cannot be read: .*definer.*: call migrate\(\)$/),
    )
    await storage.migrate()
    expect(await storage.schemaStatus()).toEqual({ state: 'current', warnings: [] })
    await joining()
    expect(await database.run('select * from forgelet_blocks')).toEqual([])
  })

  test('a blocked user is not written into a table of members that cannot be rolled back', async () => {
    const database = await withHost(MARIADB, MARIADB_HOST)
    await database.run('create table host_seats (org_id int unsigned, user_id int unsigned) engine = Aria')
    await database.run('insert into host_seats values (5, 4)')
    const members = { table: 'host_seats', organization: 'org_id', user: 'user_id' }
    await block(await database.migrated({ tables: { ...HOST_TABLES, members } }), '5', '2')
    for (const join of ['insert into host_seats values (5, 2)', 'update host_seats set user_id = 2'])
      await expect(database.run(join)).rejects.toThrow('the organization blocks this user')
    expect(await database.run('select user_id from host_seats')).toEqual([{ user_id: 4 }])
  })

  test('members in another database, where no trigger can be created, are refused by name unless they have check none', async () => {
    const [other, database] = [await newDatabase(MARIADB), await newDatabase(MARIADB)] // dropped in the reverse order
    const schema = new URL(other.url).pathname.slice(1)
    for (const statement of [...hostTables(MARIADB_HOST), ...hostRows()]) await other.run(statement)
    const members = { ...HOST_TABLES.members, schema }
    const tables = { users: { ...HOST_TABLES.users, schema }, organizations: { ...HOST_TABLES.organizations, schema } }

    await expect(database.migrated({ tables: { ...tables, members } })).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringContaining(
        `${schema}.host_members is in another schema, so that no trigger can refuse a member: set check: 'none'`,
      ),
    })
    const storage = await database.migrated({ tables: { ...tables, members: { ...members, check: 'none' } } })
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await storage.host?.isMember?.({ organizationId: '5', userId: '1' }, {})).toBe(true)
  })

  test('privileges that are granted on a pattern of names are seen, whatever the name of the user', async () => {
    const database = await withHost(MARIADB, MARIADB_HOST)
    const name = `app@${Date.now()}`
    const url = new URL(database.url)
    const pattern = url.pathname.slice(1).replaceAll('_', '\\_')
    await database.run(`create user '${name}'@'%'`)
    onTestFinished(async () => void (await database.run(`drop user '${name}'@'%'`)))
    await database.run(`grant all privileges on \`${pattern}\`.* to '${name}'@'%'`)
    url.username = encodeURIComponent(name)
    const storage = database.closing(mariadbStorage(url.href, { tables: HOST_TABLES }))

    await storage.migrate()
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
  })

  test('partitioned tables, padded ids, and columns that have no times, are refused by name', async () => {
    const database = await withHost(MARIADB, MARIADB_HOST)
    const tasks = 'id int unsigned primary key, repo_id int unsigned, number int, made bigint, changed varchar(30)'
    await database.run(`create table host_tasks (${tasks}) partition by hash (id) partitions 2`)
    const issues = { table: 'host_tasks', repository: 'repo_id', number: 'number' }
    await expect(database.migrated({ tables: { ...HOST_TABLES, issues } })).rejects.toThrow(
      'host_tasks is partitioned, so that no foreign key can refer to it: set keys: false',
    )
    // Leading zeros would be part of the ids: 0007.
    await database.run('create table host_padded (id int(4) unsigned zerofill primary key, name varchar(9))')
    await expect(database.migrated({ tables: { users: { table: 'host_padded' } } })).rejects.toThrow(
      'tables.users.id: host_padded.id is int(4) unsigned zerofill, and ids.user is bigint: no ids fit it',
    )
    // MariaDB would read a time in a text without its offset.
    const timed = { ...issues, keys: false, createdAt: 'made', updatedAt: 'changed' }
    await expect(database.migrated({ tables: { ...HOST_TABLES, issues: timed } })).rejects.toThrow(
      /createdAt: host_tasks\.made is bigint\(20\), and not a time: name a column of times, such as a generated one, or leave it out.*updatedAt: host_tasks\.changed is varchar\(30\)[^,]*, and not a time/s,
    )
  })

  const root = { id: '9' }
  /** A forge on a host whose ids are texts, in a database of this character set. */
  const ofTexts = async (set: string, text: string, keys = true) => {
    const database = await newDatabase(MARIADB)
    await database.run(`alter database character set ${set}`)
    const statements = hostTables({ ...MARIADB_HOST, serial: `${text} primary key`, integer: text, text })
    for (const statement of [...statements, ...hostRows()])
      await database.run(statement.replace("(3, 'MIA', null), ", '')) // whose name may be that of mia
    const ids = { user: 'text', organization: 'text', repository: 'text', issue: 'text' } as const
    const tables = { ...HOST_TABLES, keys }
    const storage = database.closing(mariadbStorage(database.url, { ids, tables }))
    await storage.migrate()
    const admin = ({ id }: typeof root) => id === root.id
    const policy = rolePolicy(tableRoles(storage, { admin }))
    return { database, storage, forge: createForge({ storage, policy, membership: { isMember: () => false } }) }
  }

  test.each(['ascii', 'latin1'])(
    'what the character set %s of the host does not have is found nowhere',
    async (set) => {
      const { storage, forge } = await ofTexts(set, `varchar(40) collate ${set}_bin`)
      const { host } = storage
      const [issue, other] = ['100', '題'].map((id) => ({ id, repositoryId: '10', kind: 'issue' }) as const)
      if (issue === undefined || other === undefined) throw new Error('there are two')

      expect(await host?.findAccount?.('題', {})).toBeUndefined()
      expect(await host?.findRepository?.('題', 'rocket', { actor: root })).toBeUndefined()
      await forge.pins.pin(root, issue)
      await expect(forge.pins.pin(root, other)).rejects.toMatchObject({ code: expect.stringMatching(/_NOT_FOUND$/) })
      await expect(forge.pins.list(root, { repositoryId: '題', kind: 'issue' })).rejects.toMatchObject({
        code: 'REPOSITORY_NOT_FOUND',
      })
      expect(await forge.pins.positions(root, [issue, other])).toEqual(new Map([['100', 1]]))
      const block = { organizationId: '5', account: { kind: 'user', id: '題' } } as const
      await expect(forge.blocks.block(root, block)).rejects.toMatchObject({ code: 'USER_NOT_FOUND' })
      expect(await forge.blocks.isBlocked({ organizationId: '題', userId: '題' })).toBe(false)
      await forge.badges.catalogue.define(root, { slug: 'owl', description: '', imageUrl: '' })
      await expect(forge.badges.grant(root, { userId: '題', slugs: ['owl'] })).rejects.toMatchObject({
        code: 'USER_NOT_FOUND',
      })
    },
  )

  removalsSuite(MARIADB, MARIADB_HOST)
  retirementsSuite(MARIADB)

  test.each([
    ['utf8mb4_general_ci', true],
    ['utf8mb4_unicode_520_ci', false],
    ['utf8mb4_uca1400_as_cs', true],
    ['utf8mb4_bin', false],
  ])('ids and names of the host are compared whatever their collation: %s, keys: %s', async (collation, keys) => {
    const { database, storage, forge } = await ofTexts(`utf8mb4 collate ${collation}`, 'varchar(40)', keys)
    const board = { repositoryId: '10', kind: 'issue' } as const
    const issue = (id: string) => ({ id, ...board })
    for (const id of ['100', '101', '102']) await forge.pins.pin(root, issue(id))
    await forge.pins.move(root, { issue: issue('102'), position: 1 })
    await forge.pins.unpin(root, issue('101'))
    await forge.blocks.block(root, { organizationId: '5', account: { kind: 'user', id: '2' } })
    await forge.blocks.block(root, { blockerId: '1', account: { kind: 'user', id: '2' } })
    await forge.badges.catalogue.define(root, { slug: 'owl', description: '', imageUrl: '' })
    await forge.badges.grant(root, { userId: '2', slugs: ['owl'] })

    expect(await storage.schemaStatus()).toMatchObject({ state: 'current', warnings: [] })
    expect((await forge.pins.list(root, board)).map(({ issueId }) => issueId)).toEqual(['102', '100'])
    expect(await forge.pins.positions(root, [issue('102'), issue('101')])).toEqual(new Map([['102', 1]]))
    expect((await forge.blocks.list(root, { organizationId: '5' })).total).toBe(1)
    const who = { organizationId: '5', blockerId: '1', userIds: ['1', '2'] }
    expect([...(await forge.blocks.filterBlocked(who))]).toEqual(['2'])
    expect([...(await forge.badges.heldByMany(root, ['1', '2'])).keys()]).toContain('2')
    expect(await storage.host?.findAccount?.('Sam', {})).toEqual({ kind: 'user', id: '2' })
    expect(await storage.host?.findRepository?.('ACME', 'Rocket', { actor: root })).toMatchObject({ id: '10' })
    expect(await storage.host?.findIssue?.('10', 3, {})).toMatchObject({ id: '102' })
    const { issues, users } = presentTables(storage)
    const context = { actor: root, transaction: undefined }
    expect(await issues?.(['102', '101'], context)).toMatchObject([{ number: 3 }, { number: 2 }])
    expect(await users?.(['2'], context)).toMatchObject([{ login: 'sam' }])
    await expect(database.run("insert into host_members values ('5', '2', 'member')")).rejects.toThrow(
      'blocks this user',
    )

    await database.run("delete from host_issues where id = '102'")
    await database.run("delete from host_users where id = '2'")
    expect(await forge.pins.list(root, board)).toMatchObject([{ issueId: '100', position: 1 }])
    expect((await forge.blocks.list(root, { organizationId: '5' })).total).toBe(0)
    expect(await database.run('select position from forgelet_pins')).toEqual([{ position: 1 }])
  })

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

  test.each(IS_LONG ? ['REPEATABLE READ', 'READ COMMITTED', 'SERIALIZABLE'] : ['REPEATABLE READ'])(
    `${RACES}, at %s`,
    { timeout: 300_000 },
    async (level) => {
      const settings = [`set session transaction isolation level ${level}`]
      const { ofHost } = await raceWithHost(MARIADB, MARIADB_HOST, { rounds: ROUNDS, settings })
      expect(ofHost).toBeLessThan(ROUNDS)
    },
  )
})
