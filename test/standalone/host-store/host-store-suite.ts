import { beforeAll, describe, expect, test } from 'vitest'
import type { Seed } from '../../../src/standalone/fixture/seed.ts'
import { seedFromFixture } from '../../../src/standalone/fixture/seed-from-fixture.ts'
import { tokenDigest } from '../../../src/standalone/host-names.ts'
import type { HostStore } from '../../../src/standalone/host-store/host-store.ts'
import { WORLD } from '../world.ts'

export const seed: Seed = seedFromFixture(WORLD, new Date('2026-03-01T00:00:00Z'))

// Ids are given in the order of the fixture: users 1 to 5, organizations 6 to 8, repositories 1 to 5, issues 1 to 4.
const [alice, olga, mia, sam, walt, acme, hidden, indoors] = ['1', '2', '3', '4', '5', '6', '7', '8'] as const

const NOTHING = [undefined, false, false, undefined, undefined, undefined, undefined]

/** What a store knows about an id that it never assigned. */
async function standings(store: HostStore, id: string): Promise<readonly unknown[]> {
  const { access } = await store.organizationStanding(id, id)
  const [account] = await store.accounts([id])
  const [issue] = await store.issues([id], id)
  const found = await store.findIssue(id, 1)
  const { access: role } = await store.repositoryStanding(id, id)
  return [access, await store.isSiteAdmin(id), await store.isMember(id, id), account, issue, found, role]
}

const CASES: readonly (readonly [title: string, ask: (store: HostStore) => unknown, answer: unknown])[] = [
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
  ['an unknown name is no account', (store) => store.findAccount('anonymous'), undefined],
  ['a repository is found in any case', (store) => store.findRepository('ACME', 'rOCKET'), { id: '1' }],
  ['repositories of two owners may share a name', (store) => store.findRepository('sam', 'ROCKET'), { id: '5' }],
  ['an unknown repository does not exist', (store) => store.findRepository('acme', 'nothing'), undefined],
  [
    'a repository of an unknown owner does not exist',
    (store) => store.findRepository('anonymous', 'rocket'),
    undefined,
  ],
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
  ...(
    [
      ['an owner', acme, olga, { visibility: 'public', membership: 'owner' }],
      ['a member', hidden, mia, { visibility: 'private', membership: 'member' }],
      ['a stranger', indoors, sam, { visibility: 'limited', membership: undefined }],
      ['anonymous', acme, undefined, { visibility: 'public', membership: undefined }],
      ['anyone to an unknown one', '99', olga, undefined],
      ['anyone to a user', olga, olga, undefined],
    ] as const
  ).map(
    ([who, id, user, access]) =>
      [
        `${who}, to an organization`,
        async (store: HostStore) => (await store.organizationStanding(id, user)).access,
        access,
      ] as const,
  ),
  ...(
    [
      ['an owner of its organization', '2', olga, standing({ isPrivate: true, membership: 'owner' })],
      ['a writer', '2', walt, standing({ isPrivate: true, collaboration: 'writer' })],
      ['a reader', '2', sam, standing({ isPrivate: true, collaboration: 'reader' })],
      ['an admin', '1', walt, standing({ collaboration: 'admin' })],
      ['the user who owns it', '5', sam, standing({ isPrivate: true, ownerVisibility: 'private', isOwner: true })],
      [
        'the higher of two roles',
        '5',
        walt,
        standing({ isPrivate: true, ownerVisibility: 'private', collaboration: 'admin' }),
      ],
      ['anonymous', '3', undefined, standing({ ownerVisibility: 'private' })],
      ['anyone to an unknown one', '99', olga, undefined],
    ] as const
  ).map(
    ([who, id, user, access]) =>
      [
        `${who}, to a repository`,
        async (store: HostStore) => (await store.repositoryStanding(id, user)).access,
        access,
      ] as const,
  ),
  [
    'a site admin in an organization that does not exist',
    (store) => store.organizationStanding('99', alice),
    { isSiteAdmin: true, access: undefined },
  ],
  [
    'a site admin in a repository that does not exist',
    (store) => store.repositoryStanding('99', alice),
    { isSiteAdmin: true, access: undefined },
  ],
  ['an owner is no site admin', (store) => store.organizationStanding(acme, olga), { isSiteAdmin: false }],
  ['anonymous is no site admin', (store) => store.repositoryStanding('1', undefined), { isSiteAdmin: false }],
  ...['', 'x', '01', '1 ', '1.5', '0x1', '-1', '9'.repeat(30), 'a\0b'].map(
    (id) => [`nothing with the id ${JSON.stringify(id)}`, (store: HostStore) => standings(store, id), NOTHING] as const,
  ),
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

/** What every store of a host's knows, once the world has been loaded into it. */
export function hostStoreSuite(where: string, open: () => Promise<HostStore>): void {
  describe(`a store ${where}`, () => {
    let store: HostStore

    beforeAll(async () => {
      store = await open()
    })

    test.each(CASES)('knows: %s', async (_title, ask, answer) => {
      const found = await ask(store)
      if (typeof answer === 'object' && answer !== null) expect(found).toMatchObject(answer)
      else expect(found).toBe(answer)
    })

    test('gives accounts in the order asked', async () => {
      const [first, none, second] = await store.accounts([acme, '99', mia])
      expect([first, none, second]).toEqual([seed.accounts[5], undefined, seed.accounts[2]])
    })

    test('gives issues in the order asked, with what is shown beside them', async () => {
      const [pull, none, issue] = await store.issues(['2', '99', '1'])
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

    test('gives, with each issue, the account for which it is read', async () => {
      const found = await store.issues(['1', '2', '99'], walt)
      expect(found.map((details) => details?.viewer)).toEqual([seed.accounts[4], seed.accounts[4], undefined])
    })
  })
}
