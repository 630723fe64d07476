import { expect } from 'vitest'
import type { Forge } from '../../src/index.ts'
import { isForgeError } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { Person } from '../core/a-forge.ts'
import type { DatabaseKind, HostConnection, TestDatabase } from '../databases.ts'
import { newDatabase } from '../databases.ts'
import { forgeOn } from './forge-on.ts'
import type { HostDialect } from './tables-suite.ts'
import { HOST_TABLES, hostTables } from './tables-suite.ts'

const root: Person = { id: '9' }

/** What a round of a race is: the host deletes or hides what is being pinned, blocked and granted. */
const DELETIONS: readonly (readonly string[])[] = [
  ['delete from host_issues where id = 102'],
  ['update host_issues set trashed = 1 where id = 101', 'delete from host_issues where id in (104, 103)'],
  ['delete from host_issues where id = 100', 'delete from host_issues where id = 101'],
  [
    'delete from host_issues where id = 101',
    'delete from host_issues where id = 100',
    'delete from host_users where id = 20',
  ],
  ['delete from host_repos where id = 10'],
  ['delete from host_orgs where id = 5'],
  ['delete from host_users where id = 21'],
  ['delete from host_users where id in (20, 22)', 'delete from host_issues where id = 100'],
]

/** Expected of the rules, whoever comes first. */
const RULES =
  /_NOT_FOUND$|^PIN_LIMIT_REACHED$|^CANNOT_BLOCK_(?:MEMBER|SELF)$|^ALREADY_BLOCKED$|^NOT_BLOCKED$|^ISSUE_NOT_PINNED$|^UNKNOWN_BADGE$/

/** How often the database ended a statement of the host in favour of another: then the host repeats it. */
export interface Deadlocks {
  ofHost: number
}

/**
 * Races changes of the forge with deletions and new members of the host, and looks at everything after each round.
 *
 * @param settings - what each connection of the host runs first
 */
export async function raceWithHost<Tx>(
  kind: DatabaseKind<Tx>,
  dialect: HostDialect,
  { rounds, settings = [] }: { readonly rounds: number; readonly settings?: readonly string[] },
): Promise<Deadlocks> {
  const database = await newDatabase(kind)
  for (const statement of hostTables(dialect)) await database.run(statement)
  const storage = await database.migrated({ tables: HOST_TABLES })
  const forge = forgeOn(storage)
  await forge.badges.catalogue.define(root, { slug: 'owl', description: '', imageUrl: '' })
  const hosts = await Promise.all([0, 1, 2].map(() => database.connect()))
  for (const host of hosts) for (const setting of settings) await host.run(setting)
  const deadlocks: Deadlocks = { ofHost: 0 }
  for (let round = 0; round < rounds; round += 1) {
    await freshRows(database)
    await raceOnce(forge, hosts, round, deadlocks)
    await expectWhole(database, storage, forge, round)
  }
  return deadlocks
}

async function freshRows<Tx>(database: TestDatabase<Tx>): Promise<void> {
  const rows = [
    'delete from host_orgs',
    'delete from host_users',
    "insert into host_users (id, username) values (9, 'root'), (20, 'a'), (21, 'b'), (22, 'c'), (23, 'd'), (24, 'e'), (25, 'f')",
    "insert into host_orgs (id, slug) values (5, 'acme')",
    "insert into host_repos (id, org_id, name) values (10, 5, 'rocket')",
    `insert into host_issues (id, repo_id, number) values ${Array.from({ length: 8 }, (_, at) => `(${100 + at}, 10, ${at + 1})`).join(', ')}`,
  ]
  for (const row of rows) await database.run(row)
}

async function raceOnce<Tx>(
  forge: Forge<Person, Tx>,
  [deleting, joining, other]: readonly HostConnection<Tx>[],
  round: number,
  deadlocks: Deadlocks,
): Promise<void> {
  const board = { repositoryId: 10, kind: 'issue' } as const
  const issue = (id: number) => ({ id, ...board })
  const by = (at: number): Person => ({ id: String(20 + (at % 4)) })
  const user = (id: number) => ({ organizationId: 5, account: { kind: 'user', id } }) as const
  const ownBlock = { blockerId: 20, account: { kind: 'user', id: 25 } } as const
  await Promise.all([0, 1].map((at) => forge.pins.pin(by(at), issue(100 + at))))
  await forge.blocks.block(by(0), user(25))
  await forge.blocks.block(by(0), ownBlock)

  const calls: (() => Promise<unknown>)[] = [
    ...Array.from({ length: 8 }, (_, at) => () => forge.pins.pin(by(at), issue(100 + at))),
    () => forge.pins.move(by(1), { issue: issue(101), position: 1 }),
    () => forge.pins.unpin(by(2), issue(100)),
    ...[22, 23, 24, 25].map((id) => () => forge.blocks.block(by(0), user(id))),
    () => forge.blocks.unblock(by(1), user(25)),
    ...[20, 21, 22, 23].flatMap((blockerId) =>
      [21, 22, 24].map((id) => () => forge.blocks.block(by(0), { blockerId, account: { kind: 'user', id } })),
    ),
    () => forge.blocks.unblock(by(1), ownBlock),
    ...[20, 21, 23].map((id) => () => forge.badges.grant(by(0), { userId: id, slugs: ['owl'] })),
  ]
  const deletions = DELETIONS[round % DELETIONS.length] ?? []
  const inTransaction = round % 2 === 0
  const join = (id: number) => `insert into host_members (org_id, user_id, role) values (5, ${id}, 'member')`
  const shuffled = calls.map((call) => ({ call, at: Math.random() })).sort((one, two) => one.at - two.at)
  await Promise.all([
    ...shuffled.map(({ call }) => refusable(call)),
    deleting && hostWork(deleting, deletions, inTransaction, deadlocks),
    joining && hostWork(joining, [join(23)], inTransaction, deadlocks),
    other && hostWork(other, [join(24)], false, deadlocks),
  ])
}

/** A call may be refused by a rule, and by nothing else. */
async function refusable(call: () => Promise<unknown>): Promise<void> {
  try {
    await call()
  } catch (error) {
    if (!isForgeError(error) || !RULES.test(error.code)) throw error
  }
}

/** What the host does: again after a deadlock, as it must. A refused member, or one whose organization is gone, is right. */
async function hostWork<Tx>(
  { run }: HostConnection<Tx>,
  statements: readonly string[],
  inTransaction: boolean,
  deadlocks: Deadlocks,
): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    try {
      if (inTransaction) await run('begin')
      for (const statement of statements) await run(statement)
      if (inTransaction) await run('commit')
      return
    } catch (error) {
      if (inTransaction) await run('rollback')
      const text = String(error)
      if (/blocks this user|foreign key/i.test(text)) return
      if (!/deadlock|could not serialize|try restarting|locked/i.test(text)) throw error
      if (/deadlock/i.test(text)) deadlocks.ofHost += 1
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 10))
    }
  }
  throw new Error('the host was ended in favour of others 500 times')
}

async function expectWhole<Tx>(
  database: TestDatabase<Tx>,
  storage: ForgeStorage<Tx>,
  forge: Forge<Person, Tx>,
  round: number,
): Promise<void> {
  const counted = async (sql: string) => Number((await database.run(`select count(*) as n from ${sql}`))[0]?.['n'])
  const orphans = [
    'forgelet_board_pins where issue_id not in (select id from host_issues)',
    'forgelet_board_pins where repository_id not in (select id from host_repos)',
    'forgelet_board_pins where pinned_by not in (select id from host_users)',
    'forgelet_organization_blocks where user_id not in (select id from host_users)',
    'forgelet_organization_blocks where organization_id not in (select id from host_orgs)',
    'forgelet_blocks_by_users where user_id not in (select id from host_users)',
    'forgelet_blocks_by_users where blocker_id not in (select id from host_users)',
    'forgelet_user_grants where user_id not in (select id from host_users)',
    'forgelet_organization_blocks b join host_members m on m.org_id = b.organization_id and m.user_id = b.user_id',
  ]
  for (const orphan of orphans) expect(await counted(orphan), `round ${round}: ${orphan}`).toBe(0)

  const has = async (table: string, id: number) => (await counted(`${table} where id = ${id}`)) > 0
  if (await has('host_repos', 10)) {
    const pins = await forge.pins.list(root, { repositoryId: 10, kind: 'issue' })
    expect([round, pins.map(({ position }) => position)]).toEqual([round, pins.map((_, at) => at + 1)])
    expect(pins.length).toBeLessThanOrEqual(3)
    const positions = await storage.pinBoards.positions(
      pins.map(({ issueId }) => ({ issueId, repositoryId: '10', kind: 'issue' as const })),
    )
    expect(positions).toEqual(pins.map((_, at) => at + 1))
    const [first] = pins
    if (first !== undefined) await forge.pins.unpin(root, { id: first.issueId, repositoryId: 10, kind: 'issue' })
    await forge.pins.pin(root, { id: 107, repositoryId: 10, kind: 'issue' })
  }
  const blockers = [20, 21, 22, 23].map((blockerId) => ['host_users', blockerId, { blockerId }] as const)
  for (const [table, id, of] of [['host_orgs', 5, { organizationId: 5 }] as const, ...blockers]) {
    if (!(await has(table, id))) continue
    const { total, items } = await forge.blocks.list(root, of)
    expect([round, of, total]).toEqual([round, of, items.length])
  }
  const holders = await forge.badges.holders(root, { slug: 'owl' })
  expect(holders.total).toBe(holders.items.length)
}
