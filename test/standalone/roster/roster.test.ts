import { describe, expect, test } from 'vitest'
import { MemoryRoster } from '../../../src/standalone/roster/memory-roster.ts'
import { migrateHost } from '../../../src/standalone/roster/migrate-host.ts'
import type { Roster } from '../../../src/standalone/roster/roster.ts'
import { SqlRoster } from '../../../src/standalone/roster/sql-roster.ts'
import { SqlSession } from '../../../src/standalone/roster/sql-session.ts'
import { openSqlite } from '../../../src/standalone/sqlite-handle.ts'
import { takeCensus } from '../../../src/standalone/take-census.ts'
import { tokenDigest } from '../../../src/standalone/token-digest.ts'
import { WORLD } from '../world.ts'

function sqlRoster(): Roster {
  const session = new SqlSession(openSqlite(':memory:'))
  migrateHost(session)
  return new SqlRoster(session)
}

const census = takeCensus(WORLD, new Date('2026-03-01T00:00:00Z'))

function settled(empty: Roster): Roster {
  empty.settle(census)
  return empty
}

// Ids are given in the order of the fixture: users 1 to 5, organizations 6 to 8, repositories 1 to 5, issues 1 to 4.
const [alice, olga, mia, sam, walt, acme, hidden, indoors] = ['1', '2', '3', '4', '5', '6', '7', '8'] as const

const CASES: readonly (readonly [title: string, ask: (roster: Roster) => unknown, answer: unknown])[] = [
  ['a roster with accounts is not empty', (roster) => roster.isEmpty(), false],
  [
    'a token finds its user',
    (roster) => roster.findUserByToken(tokenDigest('alice-token')),
    { id: alice, username: 'Alice' },
  ],
  [
    'a second token finds the same user',
    (roster) => roster.findUserByToken(tokenDigest('olga-second')),
    { id: olga, username: 'olga' },
  ],
  ['a token is told by its digest alone', (roster) => roster.findUserByToken('alice-token'), undefined],
  ['a wrong token finds nobody', (roster) => roster.findUserByToken(tokenDigest('Alice-token')), undefined],
  ['a user is found in any case', (roster) => roster.findAccount('aLICE'), { id: alice, kind: 'user' }],
  ['an organization is found in any case', (roster) => roster.findAccount('ACME'), { id: acme, kind: 'organization' }],
  ['an unknown name is nobody', (roster) => roster.findAccount('nobody'), undefined],
  ['a repository is found in any case', (roster) => roster.findRepository('ACME', 'rOCKET'), { id: '1' }],
  ['repositories of two owners may share a name', (roster) => roster.findRepository('sam', 'ROCKET'), { id: '5' }],
  ['an unknown repository is none', (roster) => roster.findRepository('acme', 'nothing'), undefined],
  ['a repository of nobody is none', (roster) => roster.findRepository('nobody', 'rocket'), undefined],
  [
    'an issue is found by its index',
    (roster) => roster.findIssue('1', 7),
    { id: '3', repositoryId: '1', kind: 'issue' },
  ],
  [
    'a pull request is found by its index',
    (roster) => roster.findIssue('1', 2),
    { id: '2', repositoryId: '1', kind: 'pullRequest' },
  ],
  ['an unknown index is none', (roster) => roster.findIssue('1', 3), undefined],
  ['an index counts in its repository', (roster) => roster.findIssue('2', 1), undefined],
  ['a site admin is one', (roster) => roster.isSiteAdmin(alice), true],
  ['an ordinary user is no site admin', (roster) => roster.isSiteAdmin(olga), false],
  ['nobody is no site admin', (roster) => roster.isSiteAdmin('99'), false],
  ['an owner is a member', (roster) => roster.isMember(acme, olga), true],
  ['a member is a member', (roster) => roster.isMember(acme, mia), true],
  ['a stranger is no member', (roster) => roster.isMember(acme, sam), false],
  ['a member of one is none of another', (roster) => roster.isMember(indoors, mia), false],
  [
    'an owner of an organization',
    (roster) => roster.organizationStanding(acme, olga),
    { visibility: 'public', membership: 'owner' },
  ],
  [
    'a member of an organization',
    (roster) => roster.organizationStanding(hidden, mia),
    { visibility: 'private', membership: 'member' },
  ],
  [
    'a stranger to an organization',
    (roster) => roster.organizationStanding(indoors, sam),
    { visibility: 'limited', membership: undefined },
  ],
  [
    'nobody and an organization',
    (roster) => roster.organizationStanding(acme, undefined),
    { visibility: 'public', membership: undefined },
  ],
  ['an unknown organization', (roster) => roster.organizationStanding('99', olga), undefined],
  ['a user is no organization', (roster) => roster.organizationStanding(olga, olga), undefined],
  [
    'an owner of the organization of a repository',
    (roster) => roster.repositoryStanding('2', olga),
    standing({ isPrivate: true, membership: 'owner' }),
  ],
  [
    'a writer of a private repository',
    (roster) => roster.repositoryStanding('2', walt),
    standing({ isPrivate: true, collaboration: 'writer' }),
  ],
  [
    'a reader of a private repository',
    (roster) => roster.repositoryStanding('2', sam),
    standing({ isPrivate: true, collaboration: 'reader' }),
  ],
  ['an admin of a repository', (roster) => roster.repositoryStanding('1', walt), standing({ collaboration: 'admin' })],
  [
    'the user who owns a repository',
    (roster) => roster.repositoryStanding('5', sam),
    standing({ isPrivate: true, ownerVisibility: 'private', isOwner: true }),
  ],
  [
    'the higher of two roles',
    (roster) => roster.repositoryStanding('5', walt),
    standing({ isPrivate: true, ownerVisibility: 'private', collaboration: 'admin' }),
  ],
  [
    'nobody and a repository',
    (roster) => roster.repositoryStanding('3', undefined),
    standing({ ownerVisibility: 'private' }),
  ],
  ['an unknown repository has no standing', (roster) => roster.repositoryStanding('99', olga), undefined],
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
  ['in memory', () => new MemoryRoster()],
  ['in tables', sqlRoster],
])('a roster %s', (_, make) => {
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
    expect([first, none, second]).toEqual([census.accounts[5], undefined, census.accounts[2]])
  })

  test('gives issues in the order asked, with what is shown beside them', async () => {
    const [pull, none, issue] = await settled(make()).issues(['2', '99', '1'])
    expect(none).toBe(undefined)
    expect(pull).toMatchObject({ issue: census.issues[1], labels: [], assignees: [] })
    expect(issue).toEqual({
      issue: census.issues[0],
      repository: census.repositories[0],
      owner: census.accounts[5],
      poster: census.accounts[2],
      labels: [census.labels[1], census.labels[0]],
      assignees: [census.accounts[1], census.accounts[4]],
      openIssues: 1,
      openPullRequests: 2,
    })
  })
})

test('the tables never hold a token', () => {
  const handle = openSqlite(':memory:')
  const session = new SqlSession(handle)
  migrateHost(session)
  new SqlRoster(session).settle(census)
  expect(JSON.stringify(handle.prepare('select * from host_tokens').all())).not.toContain('alice-token')
})

test('the tables are made once and refused when a newer release made them', () => {
  const session = new SqlSession(openSqlite(':memory:'))
  migrateHost(session)
  migrateHost(session)
  session.exec('update host_schema set version = 99')
  expect(() => migrateHost(session)).toThrow('version 99, newer than 1')
})
