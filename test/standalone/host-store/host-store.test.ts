import { describe, expect, test } from 'vitest'
import { seedFromFixture } from '../../../src/standalone/fixture/seed-from-fixture.ts'
import { tokenDigest } from '../../../src/standalone/host-names.ts'
import type { HostStore } from '../../../src/standalone/host-store/host-store.ts'
import { migrateHost } from '../../../src/standalone/host-store/host-tables.ts'
import { MemoryHostStore } from '../../../src/standalone/host-store/memory-host-store.ts'
import { SqlHostStore } from '../../../src/standalone/host-store/sql-host-store.ts'
import { SqlSession } from '../../../src/standalone/host-store/sql-session.ts'
import { openSqlite } from '../../../src/storage/sqlite.ts'
import { WORLD } from '../world.ts'

function sqlHostStore(): HostStore {
  const session = new SqlSession(openSqlite(':memory:'))
  migrateHost(session)
  return new SqlHostStore(session)
}

const seed = seedFromFixture(WORLD, new Date('2026-03-01T00:00:00Z'))

function settled(empty: HostStore): HostStore {
  empty.load(seed)
  return empty
}

// Ids are given in the order of the fixture: users 1 to 5, organizations 6 to 8, repositories 1 to 5, issues 1 to 4.
const [alice, olga, mia, sam, walt, acme, hidden, indoors] = ['1', '2', '3', '4', '5', '6', '7', '8'] as const

const CASES: readonly (readonly [title: string, ask: (store: HostStore) => unknown, answer: unknown])[] = [
  ['a store with accounts is not empty', (store) => store.isEmpty(), false],
  [
    'a token finds its user',
    (store) => store.findUserByToken(tokenDigest('alice-token')),
    { id: alice, username: 'Alice' },
  ],
  [
    'a second token finds the same user',
    (store) => store.findUserByToken(tokenDigest('olga-second')),
    { id: olga, username: 'olga' },
  ],
  ['a token is found by its digest alone', (store) => store.findUserByToken('alice-token'), undefined],
  ['a wrong token finds no user', (store) => store.findUserByToken(tokenDigest('Alice-token')), undefined],
  ['a user is found in any case', (store) => store.findAccount('aLICE'), { id: alice, kind: 'user' }],
  ['an organization is found in any case', (store) => store.findAccount('ACME'), { id: acme, kind: 'organization' }],
  ['an unknown name is no account', (store) => store.findAccount('nobody'), undefined],
  ['a repository is found in any case', (store) => store.findRepository('ACME', 'rOCKET'), { id: '1' }],
  ['repositories of two owners may share a name', (store) => store.findRepository('sam', 'ROCKET'), { id: '5' }],
  ['an unknown repository does not exist', (store) => store.findRepository('acme', 'nothing'), undefined],
  ['a repository of an unknown owner does not exist', (store) => store.findRepository('nobody', 'rocket'), undefined],
  ['an issue is found by its index', (store) => store.findIssue('1', 7), { id: '3', repositoryId: '1', kind: 'issue' }],
  [
    'a pull request is found by its index',
    (store) => store.findIssue('1', 2),
    { id: '2', repositoryId: '1', kind: 'pullRequest' },
  ],
  ['an unknown index does not exist', (store) => store.findIssue('1', 3), undefined],
  ['an index counts in its repository', (store) => store.findIssue('2', 1), undefined],
  ['a site admin is one', (store) => store.isSiteAdmin(alice), true],
  ['an ordinary user is not a site admin', (store) => store.isSiteAdmin(olga), false],
  ['an anonymous caller is not a site admin', (store) => store.isSiteAdmin('99'), false],
  ['an owner is a member', (store) => store.isMember(acme, olga), true],
  ['a member is a member', (store) => store.isMember(acme, mia), true],
  ['a stranger is not a member', (store) => store.isMember(acme, sam), false],
  ['a member of one is not a member of another', (store) => store.isMember(indoors, mia), false],
  [
    'an owner of an organization',
    (store) => store.organizationAccess(acme, olga),
    { visibility: 'public', membership: 'owner' },
  ],
  [
    'a member of an organization',
    (store) => store.organizationAccess(hidden, mia),
    { visibility: 'private', membership: 'member' },
  ],
  [
    'a stranger to an organization',
    (store) => store.organizationAccess(indoors, sam),
    { visibility: 'limited', membership: undefined },
  ],
  [
    'anonymous and an organization',
    (store) => store.organizationAccess(acme, undefined),
    { visibility: 'public', membership: undefined },
  ],
  ['an unknown organization', (store) => store.organizationAccess('99', olga), undefined],
  ['a user is not an organization', (store) => store.organizationAccess(olga, olga), undefined],
  [
    'an owner of the organization of a repository',
    (store) => store.repositoryAccess('2', olga),
    standing({ isPrivate: true, membership: 'owner' }),
  ],
  [
    'a writer of a private repository',
    (store) => store.repositoryAccess('2', walt),
    standing({ isPrivate: true, collaboration: 'writer' }),
  ],
  [
    'a reader of a private repository',
    (store) => store.repositoryAccess('2', sam),
    standing({ isPrivate: true, collaboration: 'reader' }),
  ],
  ['an admin of a repository', (store) => store.repositoryAccess('1', walt), standing({ collaboration: 'admin' })],
  [
    'the user who owns a repository',
    (store) => store.repositoryAccess('5', sam),
    standing({ isPrivate: true, ownerVisibility: 'private', isOwner: true }),
  ],
  [
    'the higher of two roles',
    (store) => store.repositoryAccess('5', walt),
    standing({ isPrivate: true, ownerVisibility: 'private', collaboration: 'admin' }),
  ],
  [
    'anonymous and a repository',
    (store) => store.repositoryAccess('3', undefined),
    standing({ ownerVisibility: 'private' }),
  ],
  ['an unknown repository has no standing', (store) => store.repositoryAccess('99', olga), undefined],
]

function standing(change: object): object {
  const base = {
    isPrivate: false,
    ownerVisibility: 'public',
    isOwner: false,
    membership: undefined,
    collaboration: undefined,
  }
  return { ...base, ...change }
}

describe.each([
  ['in memory', () => new MemoryHostStore()],
  ['in tables', sqlHostStore],
])('a store %s', (_, make) => {
  test('is empty at first', () => {
    expect(make().isEmpty()).toBe(true)
  })

  test('is settled once', () => {
    expect(() => settled(settled(make()))).toThrow(TypeError)
  })

  test.each(CASES)('knows: %s', (_title, ask, answer) => {
    const found = ask(settled(make()))
    if (typeof answer === 'object' && answer !== null) expect(found).toMatchObject(answer)
    else expect(found).toBe(answer)
  })

  test('gives accounts in the order asked', async () => {
    const [first, none, second] = await settled(make()).accounts([acme, '99', mia])
    expect([first, none, second]).toEqual([seed.accounts[5], undefined, seed.accounts[2]])
  })

  test('gives issues in the order asked, with what is shown beside them', async () => {
    const [pull, none, issue] = await settled(make()).issues(['2', '99', '1'])
    expect(none).toBe(undefined)
    expect(pull).toMatchObject({ issue: seed.issues[1], labels: [], assignees: [] })
    expect(issue).toEqual({
      issue: seed.issues[0],
      repository: seed.repositories[0],
      owner: seed.accounts[5],
      poster: seed.accounts[2],
      labels: [seed.labels[1], seed.labels[0]],
      assignees: [seed.accounts[1], seed.accounts[4]],
      openIssues: 1,
      openPullRequests: 2,
    })
  })
})

test('the tables never hold a token', () => {
  const handle = openSqlite(':memory:')
  const session = new SqlSession(handle)
  migrateHost(session)
  new SqlHostStore(session).load(seed)
  expect(JSON.stringify(handle.prepare('select * from host_tokens').all())).not.toContain('alice-token')
})

test('the tables are made once and refused when a newer release made them', () => {
  const session = new SqlSession(openSqlite(':memory:'))
  migrateHost(session)
  migrateHost(session)
  session.exec('update host_schema set version = 99')
  expect(() => migrateHost(session)).toThrow('version 99, newer than 1')
})
