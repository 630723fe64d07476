import { expect, test } from 'vitest'
import type { Forge } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { ForgeStorage, HostTables } from '../../src/storage/storage.ts'
import type { DatabaseKind } from '../databases.ts'
import { newDatabase } from '../databases.ts'

/** A user of the host of these tests. */
interface Person {
  readonly id: number | string
}

/** The tables of the host, in the words of a database. */
export interface HostDialect {
  readonly name: string
  /** The type of a key that the database assigns. */
  readonly serial: string
  /** The type of a column that refers to one. */
  readonly integer: string
  /** The type of a name. */
  readonly text: string
  /** The types of keys, by the ids that fit them. */
  readonly keys: { readonly bigint: string; readonly text: string; readonly uuid?: string }
  /** How a generated column is that takes no space, if the database has these: `virtual`. */
  readonly generated: 'stored' | 'virtual'
  /** A query for the statements that drop each foreign key and trigger of the forge. */
  readonly drops: string
  /** A type of times, and some that have no year of four digits. */
  readonly odd: readonly [type: string, ...times: string[]]
  /** Makes a trigger of the host, which gives each new row of `host_roles` the organization 5. */
  readonly fills: readonly string[]
}

/** Every table of the host. */
type Described = {
  readonly [K in 'users' | 'organizations' | 'members' | 'repositories' | 'issues']: NonNullable<HostTables[K]>
}

export const HOST_TABLES: Described = {
  users: { table: 'host_users', name: 'username', where: 'deleted_at is null', fullName: 'full_name' },
  organizations: { table: 'host_orgs', name: 'slug' },
  members: { table: 'host_members', organization: 'org_id', user: 'user_id', owner: "role = 'owner'" },
  repositories: { table: 'host_repos', owner: { organization: 'org_id', user: 'user_id' }, private: 'is_private = 1' },
  issues: {
    table: 'host_issues',
    repository: 'repo_id',
    number: 'number',
    pullRequest: 'is_pull = 1',
    where: 'trashed = 0',
    title: 'title',
    closed: 'closed = 1',
    author: 'author_id',
  },
}

/** Creates the tables of a host. */
export function hostTables({
  serial,
  integer,
  text,
}: Pick<HostDialect, 'serial' | 'integer' | 'text'>): readonly string[] {
  return [
    `create table host_users (id ${serial}, username ${text} not null unique, full_name ${text}, deleted_at ${text})`,
    `create table host_orgs (id ${serial}, slug ${text} not null unique)`,
    `create table host_members (org_id ${integer} not null, user_id ${integer} not null, role ${text} not null, primary key (org_id, user_id),
      foreign key (org_id) references host_orgs (id) on delete cascade, foreign key (user_id) references host_users (id) on delete cascade)`,
    `create table host_repos (id ${serial}, org_id ${integer}, user_id ${integer}, name ${text} not null, is_private ${integer} not null default 0,
      foreign key (org_id) references host_orgs (id) on delete cascade, foreign key (user_id) references host_users (id) on delete cascade)`,
    `create table host_issues (id ${serial}, repo_id ${integer} not null, number ${integer} not null, is_pull ${integer} not null default 0,
      trashed ${integer} not null default 0, title ${text}, closed ${integer} not null default 0, author_id ${integer}, unique (repo_id, number),
      foreign key (repo_id) references host_repos (id) on delete cascade)`,
  ]
}

/** Users 1 mia, 2 sam, 3 MIA, 4 zoe and 9 root; organizations 5 acme and 6 zoe; repositories 10 of acme, 11 of mia; issues 100 to 109. */
export function hostRows(): readonly string[] {
  return [
    `insert into host_users (id, username, full_name) values (1, 'mia', 'Mia Moreau'), (2, 'sam', null), (3, 'MIA', null), (4, 'zoe', null), (9, 'root', null)`,
    `insert into host_orgs (id, slug) values (5, 'acme'), (6, 'zoe')`,
    `insert into host_members (org_id, user_id, role) values (5, 1, 'owner')`,
    `insert into host_repos (id, org_id, user_id, name, is_private) values (10, 5, null, 'rocket', 0), (11, null, 1, 'notes', 1)`,
    ...Array.from(
      { length: 10 },
      (_, at) =>
        `insert into host_issues (id, repo_id, number, is_pull, title, author_id) values (${100 + at}, 10, ${at + 1}, ${at === 9 ? 1 : 0}, 'Issue ${at + 1}', 1)`,
    ),
  ]
}

const root: Person = { id: 9 }
const board = { repositoryId: 10, kind: 'issue' } as const
const issue = (id: number) => ({ id, ...board })

/** What must hold where the storage knows the tables of the host. */
export function tablesSuite<Tx>(kind: DatabaseKind<Tx>, dialect: HostDialect): void {
  const withHost = async (...more: readonly string[]) => {
    const database = await newDatabase(kind)
    for (const statement of [...hostTables(dialect), ...hostRows(), ...more]) await database.run(statement)
    return database
  }
  const opened = async (tables: HostTables = HOST_TABLES) => {
    const database = await withHost()
    const storage = await database.migrated({ tables })
    return { database, storage, forge: forgeOn(storage) }
  }
  const pinned = async (forge: Forge<Person, Tx>) =>
    (await forge.pins.list(root, board)).map(({ issueId, position }) => `${position}:${issueId}`).join(' ')

  test('the blocks of and by a user go with the user, and what is hidden of them is there again', async () => {
    const { database, storage, forge } = await opened()
    const byMia = { blockerId: 1, account: { kind: 'user', id: 2 } } as const
    const asked = { organizationId: 5, blockerId: 1, userId: 2 }
    await forge.blocks.block(root, { ...byMia, note: 'rude' })
    await forge.blocks.block(root, { blockerId: 1, account: { kind: 'user', id: 4 } })
    await forge.blocks.block(root, { blockerId: 4, account: { kind: 'user', id: 2 } })
    await forge.blocks.block({ id: 2 }, { blockerId: 2, account: { kind: 'user', id: 1 } })
    await forge.blocks.block(root, { organizationId: 5, account: { kind: 'user', id: 2 } })
    const rows = async () =>
      (await database.run('select * from forgelet_user_blocks order by blocker_id, user_id')).map(
        ({ blocker_id, user_id }) => `${blocker_id}>${user_id}`,
      )
    const missing = { blockerId: 99, account: { kind: 'user', id: 2 } } as const
    await expect(forge.blocks.block(root, missing)).rejects.toMatchObject({ code: 'USER_NOT_FOUND' })
    await expect(forge.blocks.list(root, { blockerId: 99 })).rejects.toMatchObject({ code: 'USER_NOT_FOUND' })

    await database.run("update host_users set deleted_at = 'now' where id = 2")
    expect(await forge.blocks.isBlocked(asked)).toBe(false)
    expect(await forge.blocks.isBlocked({ blockerId: 2, userId: 1 })).toBe(false)
    expect(await forge.blocks.list(root, { blockerId: 1 })).toMatchObject({ total: 1, items: [{ userId: '4' }] })
    await expect(forge.blocks.list(root, { blockerId: 2 })).rejects.toMatchObject({ code: 'USER_NOT_FOUND' })
    await expect(forge.blocks.unblock(root, byMia)).rejects.toMatchObject({ code: 'USER_NOT_FOUND' })
    expect(await rows()).toEqual(['1>4'])
    await database.run('update host_users set deleted_at = null where id = 2')
    await expect(forge.blocks.refuseBlocked(asked)).rejects.toMatchObject({
      code: 'BLOCKED',
      details: { organizationId: '5', blockerId: '1' },
    })
    expect(await rows()).toEqual(['1>2', '1>4', '2>1', '4>2'])

    await database.run('delete from host_users where id = 2')
    expect(await rows()).toEqual(['1>4'])
    await database.run('delete from host_users where id = 9') // who blocked
    expect((await forge.blocks.list(root, { blockerId: 1 })).items).toMatchObject([{ userId: '4', blockedBy: null }])
    await database.run('delete from host_users where id = 1')
    expect(await database.run('select * from forgelet_blocks_by_users')).toEqual([])
    expect((await storage.schemaStatus()).state).toBe('current')
  })

  test('a pin is hidden while its issue is in another repository, or of the other kind', async () => {
    const { database, forge } = await opened()
    for (const id of [100, 101, 102]) await forge.pins.pin(root, issue(id))

    await database.run('update host_issues set repo_id = 11 where id = 100')
    expect(await pinned(forge)).toBe('1:101 2:102')
    await expect(forge.pins.pin(root, issue(100))).rejects.toMatchObject({ code: 'ISSUE_NOT_FOUND' })
    await forge.pins.pin(root, issue(103)) // the hidden one is not counted
    const moved = { ...issue(100), repositoryId: 11 }
    expect(await forge.pins.pin(root, moved)).toMatchObject({ position: 1 })
    await database.run('update host_issues set repo_id = 10 where id = 100')
    expect(await pinned(forge)).toBe('1:100 2:101 3:102 4:103')
    expect(await forge.pins.list(root, { ...board, repositoryId: 11 })).toEqual([])

    await database.run('update host_issues set is_pull = 1 where id = 101')
    expect(await pinned(forge)).toBe('1:100 2:102 3:103')
    await forge.pins.unpin(root, issue(103))
    await expect(forge.pins.pin(root, issue(101))).rejects.toMatchObject({ code: 'ISSUE_NOT_FOUND' })
    expect(await forge.pins.pin(root, { ...issue(101), kind: 'pullRequest' })).toMatchObject({ position: 1 })
    await expect(forge.pins.pin(root, { ...issue(104), kind: 'pullRequest' })).rejects.toMatchObject({
      code: 'ISSUE_NOT_FOUND',
    })
  })

  test('the tables answer the ports', async () => {
    const { storage } = await opened()
    const { host } = storage
    const at = {}
    expect(await host?.findAccount?.('mia', at)).toEqual({ kind: 'user', id: '1' })
    expect(await host?.findAccount?.('MIA', at)).toEqual({ kind: 'user', id: '3' })
    expect(await host?.findAccount?.('Mia', at)).toBeUndefined() // two differ in case alone
    expect(await host?.findAccount?.('Sam', at)).toEqual({ kind: 'user', id: '2' })
    expect(await host?.findAccount?.('zoe', at)).toEqual({ kind: 'user', id: '4' })
    expect(await host?.findAccount?.('zoe', at, 'organization')).toEqual({ kind: 'organization', id: '6' })
    expect(await host?.findAccount?.('nobody', at)).toBeUndefined()
    expect(await host?.findRepository?.('acme', 'rocket', at)).toEqual({ id: '10' })
    expect(await host?.findRepository?.('ACME', 'Rocket', at)).toEqual({ id: '10' })
    expect(await host?.findRepository?.('mia', 'notes', at)).toEqual({ id: '11' })
    expect(await host?.findRepository?.('mia', 'rocket', at)).toBeUndefined()
    expect(await host?.findRepository?.('MIA', 'notes', at)).toBeUndefined() // MIA is another user, without notes
    expect(await host?.findIssue?.('10', 1, at)).toEqual({ id: '100', repositoryId: '10', kind: 'issue' })
    expect(await host?.findIssue?.('10', 10, at)).toEqual({ id: '109', repositoryId: '10', kind: 'pullRequest' })
    expect(await host?.findIssue?.('10', 99_999_999_999, at)).toBeUndefined()

    const mia = { actor: { id: 1 } }
    const owner = { isMember: true, isOwner: true, isPrivate: false }
    const found = await host?.findRepository?.('acme', 'rocket', mia, { index: 10 })
    expect(await host?.standingInRepository?.('10', { ...mia, repository: found })).toEqual(owner)
    expect(await host?.standingInRepository?.('10', mia)).toEqual(owner)
    expect(await host?.standingInRepository?.('10', { actor: 'anonymous', repository: found })).toEqual({
      isMember: false,
      isOwner: false,
      isPrivate: false,
    })
    expect(await host?.standingInRepository?.('11', mia)).toEqual({ isMember: true, isOwner: true, isPrivate: true })
    expect(await host?.findIssue?.('10', 10, { ...mia, repository: found })).toEqual({
      id: '109',
      repositoryId: '10',
      kind: 'pullRequest',
    })
    expect(await host?.standingInOrganization?.('5', mia)).toEqual(owner)
    expect(await host?.standingInOrganization?.('99', mia)).toBeUndefined()
    expect(await host?.isMember?.({ organizationId: '5', userId: '1' }, at)).toBe(true)
    expect(await host?.users?.(['2', '99', '1'], at)).toMatchObject([
      { name: 'sam' },
      undefined,
      { fullName: 'Mia Moreau' },
    ])
    expect(await host?.issues?.(['100'], at)).toMatchObject([
      { number: 1, title: 'Issue 1', isClosed: false, author: { name: 'mia' } },
    ])
  })

  test('every table and column that does not fit is named before anything is created', async () => {
    const database = await withHost()
    const storage = database.storage({
      tables: {
        ...HOST_TABLES,
        users: { table: 'host_people' },
        organizations: { table: 'host_orgs', name: 'handle' },
        members: { ...HOST_TABLES.members, user: 'member_id' },
      },
    })
    await expect(storage.migrate()).rejects.toThrow(
      /tables\.users\.table: .*host_people.*tables\.organizations\.name: .*handle.*tables\.members\.user: .*member_id/,
    )
    const qualified = database.storage({ tables: { users: { table: 'other.host_users' } } })
    await expect(qualified.migrate()).rejects.toThrow("tables.users.schema: { schema: 'other', table: 'host_users' }")
    const typed = database.storage({ tables: HOST_TABLES, ids: { user: 'uuid' } })
    await expect(typed.migrate()).rejects.toThrow(/ids\.user is uuid: set ids: \{ user: 'bigint' \}/)
    for (const where of ['gone = 1', 'host_issues.trashed = 0']) {
      const issues = { ...HOST_TABLES.issues, where }
      await expect(database.storage({ tables: { ...HOST_TABLES, issues } }).migrate()).rejects.toMatchObject({
        code: 'SCHEMA_CONFLICT',
        message: expect.stringContaining('tables.issues.where: the database refuses the condition on host_issues'),
      })
    }
    expect((await database.storage().schemaStatus()).state).toBe('empty')
  })

  test('tables that exist are made to follow those of the host, and what refers to nothing is removed', async () => {
    const database = await withHost()
    const before = forgeOn(await database.migrated(), { isMember: () => false })
    for (const id of [100, 777, 101]) await before.pins.pin({ id: 55 }, issue(id))
    await before.blocks.block({ id: 1 }, { organizationId: 5, account: { kind: 'user', id: 888 } })
    for (const [blockerId, id] of Object.entries({ 1: 888, 888: 1, 2: 1 }))
      await before.blocks.block({ id: 55 }, { blockerId, account: { kind: 'user', id } })

    const storage = database.storage({ tables: HOST_TABLES })
    await expect((async () => storage.pinBoards.load({ repositoryId: '10', kind: 'issue' }))()).rejects.toMatchObject({
      code: 'SCHEMA_OUTDATED',
    })
    expect((await storage.schemaStatus()).state).toBe('outdated')
    await storage.migrate()
    await storage.migrate()
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    const forge = forgeOn(storage)
    expect(await pinned(forge)).toBe('1:100 2:101')
    expect(await forge.pins.list(root, board)).toMatchObject([{ pinnedBy: null }, { pinnedBy: null }])
    expect(await forge.blocks.list(root, { organizationId: 5 })).toMatchObject({ total: 0 })
    expect(await forge.blocks.list(root, { blockerId: 1 })).toMatchObject({ total: 0 })
    expect((await forge.blocks.list(root, { blockerId: 2 })).items).toMatchObject([{ userId: '1', blockedBy: null }])
    const other = database.storage()
    await expect((async () => other.pinBoards.load({ repositoryId: '10', kind: 'issue' }))()).rejects.toThrow(
      'open the storage with the same tables',
    )
  })

  test.each([
    ['host_users', 'username', 'tables.users.name: host_users has no column username'],
    ['host_issues', 'repo_id', 'tables.issues.repository: host_issues has no column repo_id'],
    ['host_members', 'role', 'tables.members.owner: the database refuses the condition on host_members'],
  ])('schemaStatus() and migrate() name what is missing when %s.%s is renamed', async (table, column, fault) => {
    const { database, storage } = await opened()
    await database.run(`alter table ${table} rename column ${column} to renamed`)
    const { state, warnings } = await storage.schemaStatus()
    expect([state, warnings.filter((one) => one.startsWith('tables.'))]).toEqual([
      'drifted',
      [expect.stringContaining(fault)],
    ])
    await expect(storage.migrate()).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringContaining(fault),
    })
    await database.run(`alter table ${table} rename column renamed to ${column}`)
    await storage.migrate()
    expect((await storage.schemaStatus()).state).toBe('current')
  })

  test('a table that is renamed is named by schemaStatus() and migrate(), and found under its new name', async () => {
    const { database, storage, forge } = await opened()
    await forge.pins.pin(root, issue(100))
    await database.run('alter table host_issues rename to host_tickets')
    const fault = 'tables.issues.table: the database has no table host_issues'
    const { state, warnings } = await storage.schemaStatus()
    expect([state, warnings.join()]).toEqual(['drifted', expect.stringContaining(fault)])
    await expect(storage.migrate()).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringContaining(fault),
    })

    const renamed = database.storage({
      tables: { ...HOST_TABLES, issues: { ...HOST_TABLES.issues, table: 'host_tickets' } },
    })
    await renamed.migrate()
    expect(await renamed.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await pinned(forgeOn(renamed))).toBe('1:100')
  })

  test('a view that the host has removed is named, and migrate() makes it again', async () => {
    const { database, storage } = await opened()
    await database.run('drop view forgelet_pins')
    expect(await storage.schemaStatus()).toEqual({
      state: 'drifted',
      warnings: ['forgelet_pins is missing: call migrate()'],
    })
    await storage.migrate()
    expect((await storage.schemaStatus()).state).toBe('current')
  })

  test('each key and trigger that is missing is seen, and migrate() makes it again', async () => {
    const { database, storage } = await opened()
    const drops = (await database.run(dialect.drops)).map(({ statement }) => String(statement))
    expect(drops.length).toBeGreaterThan(7)
    for (const [index, drop] of drops.entries()) {
      await database.run(drop)
      const { state, warnings } = await storage.schemaStatus()
      expect([drop, state, warnings.length]).toEqual([drop, 'drifted', index + 1])
    }
    await storage.migrate()
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    expect((await database.run(dialect.drops)).map(({ statement }) => String(statement)).toSorted()).toEqual(
      drops.toSorted(),
    )
  })

  test('keys and triggers that stay with a table whose name another has taken are seen and moved', async () => {
    const { where: _, ...issues } = HOST_TABLES.issues // a view would refer to the table
    const { database, storage, forge } = await opened({ ...HOST_TABLES, issues })
    await forge.pins.pin(root, issue(100))
    await database.run('alter table host_issues rename to host_old_issues')
    for (const statement of hostTables(dialect).slice(-1)) await database.run(statement)
    await database.run('insert into host_issues select * from host_old_issues')
    await database.run('insert into host_issues (id, repo_id, number) values (300, 10, 300)')
    expect((await storage.schemaStatus()).state).toBe('drifted')
    await storage.migrate()
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    await forge.pins.pin(root, issue(300))
    await database.run('drop table host_old_issues')
    await database.run('delete from host_issues where id = 100')
    expect(await pinned(forge)).toBe('1:300')
  })

  test('an id that the forge refers to is not changed, and any other is', async () => {
    const { database, forge } = await opened()
    await forge.pins.pin(root, issue(100))
    await forge.blocks.block({ id: 1 }, { organizationId: 6, account: { kind: 'user', id: 2 } })
    const refused = [
      ['host_issues', 100],
      ['host_users', 2],
      ['host_users', 9],
      ['host_orgs', 6],
    ] as const
    for (const [table, id] of refused) {
      await expect(database.run(`update ${table} set id = 500 where id = ${id}`)).rejects.toThrow(
        /foreign key|refers to this row/,
      )
    }
    await database.run('update host_issues set id = 500 where id = 101')
    await database.run('update host_users set id = 2 where id = 2')
    expect(await pinned(forge)).toBe('1:100')
    expect(await forge.blocks.isBlocked({ organizationId: 6, userId: 2 })).toBe(true)
  })

  test('users and organizations may be in one table, and the owners of repositories in one column', async () => {
    const database = await newDatabase(kind)
    await database.run(
      `create table host_accounts (id ${dialect.serial}, name ${dialect.text} not null, is_org ${dialect.integer} not null)`,
    )
    await database.run("insert into host_accounts values (1, 'mia', 0), (2, 'sam', 0), (5, 'acme', 1), (9, 'root', 0)")
    await database.run(
      `create table host_members (org_id ${dialect.integer} not null, user_id ${dialect.integer} not null)`,
    )
    await database.run(
      `create table host_repos (id ${dialect.serial}, owner_id ${dialect.integer} not null, name ${dialect.text} not null)`,
    )
    await database.run("insert into host_repos values (10, 5, 'rocket'), (11, 1, 'notes')")
    const storage = await database.migrated({
      tables: {
        users: { table: 'host_accounts', where: 'is_org = 0' },
        organizations: { table: 'host_accounts', where: 'is_org = 1' },
        members: { table: 'host_members', organization: 'org_id', user: 'user_id' },
        repositories: { table: 'host_repos', owner: { organization: 'owner_id', user: 'owner_id' } },
      },
    })
    const forge = forgeOn(storage)
    expect(await storage.host?.findRepository?.('acme', 'rocket', {})).toEqual({ id: '10' })
    expect(await storage.host?.findRepository?.('mia', 'notes', {})).toEqual({ id: '11' })
    expect(await storage.host?.findRepository?.('mia', 'rocket', {})).toBeUndefined()
    const blocking = (organizationId: number, id: number) =>
      forge.blocks.block({ id: 1 }, { organizationId, account: { kind: 'user', id } })
    await expect(blocking(5, 5)).rejects.toMatchObject({ code: 'USER_NOT_FOUND' })
    await expect(blocking(9, 2)).rejects.toMatchObject({ code: 'ORGANIZATION_NOT_FOUND' })
    await blocking(5, 2)
    await expect(database.run('insert into host_members values (5, 2)')).rejects.toThrow('blocks this user')
    expect(await storage.host?.findAccount?.('acme', {}, 'user')).toBeUndefined()
    await database.run('delete from host_accounts where id = 1')
    expect((await forge.blocks.list(root, { organizationId: 5 })).items).toMatchObject([{ blockedBy: null }])
    await database.run('delete from host_accounts where id = 2')
    expect(await forge.blocks.list(root, { organizationId: 5 })).toMatchObject({ total: 0 })
    await database.run('delete from host_accounts where id = 5')
    await expect(forge.blocks.list(root, { organizationId: 5 })).rejects.toMatchObject({
      code: 'ORGANIZATION_NOT_FOUND',
    })
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
  })

  test.each(Object.entries(dialect.keys))('a key of the host that is %s fits no other ids', async (type, key) => {
    const database = await newDatabase(kind)
    await database.run(`create table host_users (id ${key} not null primary key, name ${dialect.text})`)
    const users = { table: 'host_users' }
    for (const ids of ['bigint', 'uuid', 'text'] as const) {
      if (ids === type || (ids !== 'bigint' && dialect.keys.uuid === undefined)) continue
      await expect(database.storage({ ids: { user: ids }, tables: { users } }).migrate()).rejects.toMatchObject({
        code: 'SCHEMA_CONFLICT',
        message: expect.stringMatching(`ids\\.user is ${ids}: set ids: \\{ user: '${type}' \\}`),
      })
      expect((await database.storage().schemaStatus()).state).toBe('empty')
    }
    const id = type === 'bigint' ? '7' : '00000000-0000-4000-8000-000000000007'
    await database.run(`insert into host_users values ('${id}', 'mia')`)
    const storage = await database.migrated({ ids: { user: type as keyof typeof dialect.keys }, tables: { users } })
    const forge = forgeOn(storage, { isMember: () => false })
    const actor = { id: id.replace('7', '8') }
    await forge.blocks.block(actor, { organizationId: 5, account: { kind: 'user', id } })
    await forge.blocks.block(actor, { organizationId: 6, account: { kind: 'user', id } })
    expect(await storage.host?.findAccount?.('mia', {})).toEqual({ kind: 'user', id })
    await database.run(`delete from host_users where id = '${id}'`)
    expect(await forge.blocks.list(actor, { organizationId: 5 })).toMatchObject({ total: 0, items: [] })

    // The organizations are not known: they are reported.
    await forge.lifecycle.organizationDeleted(6)
    expect((await forge.events.list({ types: ['organization.deleted'] })).items).toMatchObject([
      { data: { blocks: 0 } },
    ])
    await expect(forge.blocks.list(actor, { organizationId: 6 })).rejects.toMatchObject({
      code: 'ORGANIZATION_NOT_FOUND',
    })
  })

  test('without keys nothing is created in the tables of the host, and reads look there', async () => {
    const { database, forge } = await opened({
      ...HOST_TABLES,
      keys: false,
      members: { ...HOST_TABLES.members, check: 'none' },
    })
    for (const id of [100, 101, 102]) await forge.pins.pin(root, issue(id))
    await forge.blocks.block(root, { organizationId: 5, account: { kind: 'user', id: 2 } })
    for (const blockerId of [1, 4]) await forge.blocks.block(root, { blockerId, account: { kind: 'user', id: 2 } })
    await forge.blocks.block(root, { blockerId: 2, account: { kind: 'user', id: 1 } })
    await database.run('delete from host_issues where id = 101')
    await database.run('delete from host_users where id = 2')
    expect(await pinned(forge)).toBe('1:100 2:102')
    await forge.pins.pin(root, issue(103))
    expect(await pinned(forge)).toBe('1:100 2:102 3:103')
    expect(await forge.blocks.list(root, { organizationId: 5 })).toMatchObject({ total: 0, items: [] })
    expect(await forge.blocks.list(root, { blockerId: 1 })).toMatchObject({ total: 0, items: [] })
    expect(await forge.blocks.isBlocked({ blockerId: 2, userId: 1 })).toBe(false)
    await database.run("insert into host_members (org_id, user_id, role) values (5, 4, 'member')")
    await expect(
      forge.blocks.block(root, { organizationId: 5, account: { kind: 'user', id: 4 } }),
    ).rejects.toMatchObject({ code: 'CANNOT_BLOCK_MEMBER' })
  })

  test('a view is one of the tables if no keys refer to it, and reads look there', async () => {
    const database = await withHost(
      'create view host_paths as select r.id, r.name, o.id as owner_id, r.is_private as hidden from host_repos r join host_orgs o on o.id = r.org_id where r.is_private = 0',
    )
    const view = { table: 'host_paths', owner: { organization: 'owner_id' }, private: 'hidden = 1' }
    const keyed = database.storage({ tables: { ...HOST_TABLES, repositories: view } })
    await expect(keyed.migrate()).rejects.toThrow('host_paths')

    const storage = await database.migrated({ tables: { ...HOST_TABLES, repositories: { ...view, keys: false } } })
    expect((await storage.schemaStatus()).state).toBe('current')
    const forge = forgeOn(storage)
    expect(await storage.host?.findRepository?.('acme', 'rocket', {})).toEqual({ id: '10' })
    for (const id of [100, 101]) await forge.pins.pin(root, issue(id))
    await database.run('delete from host_issues where id = 100')
    expect(await pinned(forge)).toBe('1:101')
    const shown = await database.run('select position from forgelet_pins')
    expect(shown.map(({ position }) => Number(position))).toEqual([1])
    await database.run('update host_repos set is_private = 1 where id = 10')
    await expect(forge.pins.list(root, board)).rejects.toMatchObject({ code: 'REPOSITORY_NOT_FOUND' })
    await expect(forge.pins.pin(root, issue(102))).rejects.toMatchObject({ code: 'REPOSITORY_NOT_FOUND' })
    await database.run('update host_repos set is_private = 0 where id = 10')
    expect(await pinned(forge)).toBe('1:101')
    await database.run('delete from host_repos where id = 10')
    expect(await database.run('select * from forgelet_board_pins')).toEqual([]) // with its issues
  })

  test('rows of a view that puts rows together are locked where the database can, and read everywhere', async () => {
    const database = await withHost(
      'create view host_active as select u.id, u.username, u.deleted_at, count(i.id) as issues from host_users u left join host_issues i on i.author_id = u.id group by u.id, u.username, u.deleted_at',
    )
    const users = { table: 'host_active', name: 'username', where: 'deleted_at is null', keys: false }
    const storage = await database.migrated({ tables: { ...HOST_TABLES, users } })
    const forge = forgeOn(storage)
    await forge.blocks.block(root, { organizationId: 5, account: { kind: 'user', id: 2 } })
    expect(await forge.blocks.isBlocked({ organizationId: 5, userId: 2 })).toBe(true)
    await database.run("update host_users set deleted_at = 'now' where id = 2")
    expect(await forge.blocks.isBlocked({ organizationId: 5, userId: 2 })).toBe(false)
  })

  test('views are refused by name where a key or a trigger would be on them', async () => {
    const database = await withHost(
      'create view host_people as select * from host_users',
      'create view host_teams as select * from host_members',
    )
    const users = { ...HOST_TABLES.users, table: 'host_people' }
    const members = { ...HOST_TABLES.members, table: 'host_teams' }
    await expect(database.storage({ tables: { ...HOST_TABLES, users, members } }).migrate()).rejects.toThrow(
      /: tables\.users\.table: host_people is [^:]+: set keys: false; tables\.members\.table: host_teams is [^:]+: set check: 'none'$/,
    )
    const tables = { ...HOST_TABLES, users: { ...users, keys: false }, members: { ...members, check: 'none' as const } }
    expect((await (await database.migrated({ tables })).schemaStatus()).state).toBe('current')
  })

  test('conditions on repositories may name any of their columns', async () => {
    const database = await withHost(
      `alter table host_repos add column owner_id ${dialect.integer}`,
      `alter table host_repos add column owner_name ${dialect.text}`,
      "update host_repos set owner_id = org_id, owner_name = 'acme'",
    )
    const repositories = {
      table: 'host_repos',
      owner: { organization: 'owner_id' },
      where: 'owner_id is not null',
      private: "owner_name <> 'acme'",
    }
    const { host } = await database.migrated({ tables: { ...HOST_TABLES, repositories } })
    expect(await host?.findRepository?.('acme', 'rocket', {})).toEqual({ id: '10' })
    expect(await host?.standingInRepository?.('10', { actor: { id: 1 } })).toMatchObject({ isPrivate: false })
  })

  test('a number that two issues of a repository have finds one of them', async () => {
    const columns = ['id', 'repo_id', 'number', 'trashed', 'is_pull'].map((name) => `${name} ${dialect.integer}`)
    const database = await withHost(
      `create table host_tasks (${columns.join()}, primary key (id))`,
      'insert into host_tasks values (100, 10, 1, 0, 0), (101, 10, 1, 0, 0)',
    )
    const issues = { table: 'host_tasks', repository: 'repo_id', number: 'number' }
    const { host } = await database.migrated({ tables: { ...HOST_TABLES, issues } })
    const repository = await host?.findRepository?.('acme', 'rocket', {}, { index: 1 })
    for (const found of [{ repository }, {}]) {
      expect(['100', '101']).toContain((await host?.findIssue?.('10', 1, found))?.id)
    }
  })

  test('what else a row of members has may change, also of one who was blocked before the tables were known', async () => {
    const database = await withHost()
    const before = forgeOn(await database.migrated(), { isMember: () => false })
    await before.blocks.block(root, { organizationId: 5, account: { kind: 'user', id: 1 } })
    await database.migrated({ tables: HOST_TABLES })
    await database.run("update host_members set role = 'member' where user_id = 1")
    await database.run('update host_members set user_id = 4 where user_id = 1')
    await expect(database.run('update host_members set user_id = 1')).rejects.toThrow('blocks this user')
    expect(await database.run('select role from host_members')).toEqual([{ role: 'member' }])
  })

  test.each([
    [
      'generated from another',
      [],
      ["insert into host_roles (kind, kind_id, user_id) values ('org', 5, 2)", "update host_roles set kind = 'org'"],
    ],
    ['set by a trigger of the host', dialect.fills, ['insert into host_roles (user_id) values (2)']],
  ] as const)('a blocked user does not become a member where the organization is %s', async (_, fills, joins) => {
    const generated = `generated always as (case when kind = 'org' then kind_id end) ${dialect.generated}`
    const [{ text, integer }, isGenerated] = [dialect, fills.length === 0]
    const database = await withHost(
      `create table host_roles (kind ${text}, kind_id ${integer}, user_id ${integer}, org_id ${integer} ${isGenerated ? generated : ''})`,
      "insert into host_roles (kind, kind_id, user_id) values ('team', 5, 2)",
    )
    const members = { table: 'host_roles', organization: 'org_id', user: 'user_id' }
    const forge = forgeOn(await database.migrated({ tables: { ...HOST_TABLES, members } }))
    for (const statement of fills) await database.run(statement)
    await forge.blocks.block(root, { organizationId: 5, account: { kind: 'user', id: 2 } })
    for (const join of joins) await expect(database.run(join)).rejects.toThrow('the organization blocks this user')
    expect(await database.run('select kind from host_roles')).toEqual([{ kind: 'team' }])
  })

  test('a row of members without an organization is the concern of the host alone', async () => {
    const columns = `org_id ${dialect.integer}, user_id ${dialect.integer}, role ${dialect.text}`
    const database = await withHost(`create table host_invitations (${columns})`)
    const members = { ...HOST_TABLES.members, table: 'host_invitations' }
    await database.migrated({ tables: { ...HOST_TABLES, members } })
    await database.run("insert into host_invitations values (null, 2, 'guest'), (5, null, 'invited')")
    await database.run("update host_invitations set org_id = null where role = 'invited'")
    expect(await database.run("select 1 as found from forgelet_heads as h where h.key = ''")).toEqual([])
    expect(await database.run('select * from host_invitations where org_id is null')).toHaveLength(2)
  })

  test('a time that has no year of four digits is not shown', async () => {
    const [type, ...times] = dialect.odd
    const database = await withHost(`alter table host_issues add column made ${type}`)
    for (const [at, time] of times.entries())
      await database.run(`update host_issues set made = ${time} where id = ${101 + at}`)
    const issues = { ...HOST_TABLES.issues, createdAt: 'made' }
    const { host } = await database.migrated({ tables: { ...HOST_TABLES, issues } })
    const shown = await host?.issues?.(['101', '102', '103'], {})
    expect(shown?.map((one) => one?.createdAt)).toEqual([undefined, undefined, undefined])
  })

  test('issues and pull requests in two tables may have the same ids', async () => {
    const { pullRequest: _, where: __, ...issues } = HOST_TABLES.issues
    const database = await withHost(
      `create table host_pulls (id ${dialect.serial}, repo_id ${dialect.integer} not null, number ${dialect.integer} not null, title ${dialect.text})`,
      "insert into host_pulls (id, repo_id, number, title) values (100, 10, 21, 'Pull 21')",
    )
    const pullRequests = { table: 'host_pulls', repository: 'repo_id', number: 'number', title: 'title' }
    const storage = await database.migrated({ tables: { ...HOST_TABLES, issues, pullRequests } })
    const forge = forgeOn(storage)
    await forge.pins.pin(root, issue(100))
    const pull = { id: 100, repositoryId: 10, kind: 'pullRequest' } as const
    await forge.pins.pin(root, pull)
    await expect(forge.pins.pin(root, { ...pull, id: 101 })).rejects.toMatchObject({ code: 'ISSUE_NOT_FOUND' })
    await expect(forge.pins.pin(root, { ...pull, repositoryId: 11 })).rejects.toMatchObject({ code: 'ISSUE_NOT_FOUND' })
    await database.run('update host_pulls set repo_id = 11')
    expect(await forge.pins.list(root, { ...board, kind: 'pullRequest' })).toEqual([])
    await database.run('update host_pulls set repo_id = 10')
    const found = { id: '100', repositoryId: '10', kind: 'pullRequest' }
    expect(await storage.host?.findIssue?.('10', 21, {})).toEqual(found)
    await database.run('delete from host_pulls where id = 100')
    expect(await pinned(forge)).toBe('1:100')
    expect(await forge.pins.list(root, { repositoryId: 10, kind: 'pullRequest' })).toEqual([])
    expect((await storage.schemaStatus()).state).toBe('current')
  })
}

function forgeOn<Tx>(storage: ForgeStorage<Tx>, membership?: { isMember: () => boolean }): Forge<Person, Tx> {
  return createForge({
    storage: storage as ForgeStorage<Tx> & { readonly host: { readonly isMember: () => boolean } },
    policy: { authorize: (_request, _context: { readonly actor: Person | 'anonymous' }) => ({ allow: true }) },
    ...(membership && { membership }),
  })
}
