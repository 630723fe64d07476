import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Caller } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import { hostPresenter } from '../../../src/standalone/host-store/host-ports.ts'
import { loadFixture } from '../../../src/standalone/host-store/load-fixture.ts'
import { openHostDatabase } from '../../../src/standalone/host-store/open-host-database.ts'
import { PageReader } from '../../../src/standalone/host-store/page-reader.ts'
import { wireTime } from '../../../src/standalone/presenter/site-links.ts'
import type { Fixture, StandaloneUser } from '../../../src/standalone/standalone.ts'
import { WORLD } from '../world.ts'
import SHOWN from './shown.json' with { type: 'json' }

type Pages = Pick<PageReader, 'accounts' | 'issues'>

/** Reads from a database with a fixture in it. */
function pagesOf(fixture: Fixture, now: string): Promise<Pages> {
  vi.useFakeTimers({ now: new Date(now), toFake: ['Date'] })
  return openHostDatabase({ db: ':memory:' }, async (database) => {
    const forge = createForge({
      storage: database.storage,
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
    })
    await database.migrate()
    await loadFixture(database, forge, fixture)
    vi.useRealTimers()
    const opened: Pages = new PageReader(database)
    return opened
  })
}

let pages: Pages
let present: ReturnType<typeof hostPresenter>

beforeAll(async () => {
  pages = await pagesOf(WORLD, '2026-03-01T00:00:00.789Z')
  present = hostPresenter(pages, 'https://git.example.com/api/v1')
})

const sam = { id: '4', username: 'sam' }

type Json = { readonly [key: string]: unknown }

async function shown(
  kind: 'users' | 'issues' | 'pullRequests',
  id: string,
  actor: Caller<StandaloneUser> = sam,
): Promise<Json> {
  const [json] = await present[kind]([id], { actor })
  return JSON.parse(JSON.stringify(json))
}

test.each([
  ['users', '3', SHOWN.user],
  ['issues', '1', SHOWN.issue],
  ['pullRequests', '2', SHOWN.pullRequest],
] as const)('every field of %s is there, with the keys in the order of the API', async (kind, id, expected) => {
  expect(JSON.stringify(await shown(kind, id), null, 1)).toBe(JSON.stringify(expected, null, 1))
})

describe('a user', () => {
  test('is shown as another signed-in user sees it, to every caller', async () => {
    const self = await shown('users', '1', { id: '1', username: 'Alice' })
    expect(self).toEqual(await shown('users', '1'))
    expect(self).toMatchObject({ login: 'Alice', email: 'alice@example.com', is_admin: false, active: false })
  })

  test('who hides the address is shown with a placeholder', async () => {
    expect((await shown('users', '3'))['email']).toBe('3+mia@noreply.git.example.com')
  })

  test('has times of second precision in UTC', async () => {
    expect((await shown('users', '3'))['created']).toBe('2024-03-02T08:00:00Z')
    expect((await shown('users', '1'))['created']).toBe('2026-03-01T00:00:00Z')
  })
})

test.each([
  ['0000-01-01T00:00:00.9Z', '0000-01-01T00:00:00Z'],
  ['0000-01-01T00:00:00+01:00', '0000-01-01T00:00:00Z'],
  ['9999-12-31T23:59:59.9Z', '9999-12-31T23:59:59Z'],
  ['9999-12-31T23:59:59-05:00', '9999-12-31T23:59:59Z'],
])('the time %s is shown as RFC 3339 in UTC can express it', (time, shownAs) => {
  expect(wireTime(new Date(time))).toBe(shownAs)
})

describe('the poster of an issue', () => {
  test.each([
    ['anonymous', 'anonymous', { email: '3+mia@noreply.git.example.com', active: false }],
    ['another user', sam, { email: '3+mia@noreply.git.example.com', active: false }],
    ['itself', { id: '3', username: 'mia' }, { email: 'mia@example.com', active: true }],
    ['a site admin', { id: '1', username: 'Alice' }, { email: 'mia@example.com', active: true }],
  ] as const)('is shown as %s sees it', async (_, actor, expected) => {
    expect((await shown('issues', '1', actor))['user']).toMatchObject(expected)
  })
})

test('an issue without assignees has null, a pull request an empty list', async () => {
  expect(await shown('issues', '3')).toMatchObject({ assignee: null, assignees: null })
  expect(await shown('pullRequests', '2')).toMatchObject({ assignee: null, assignees: [] })
})

test('a closed and locked issue says so', async () => {
  const closed = { state: 'closed', is_locked: true, closed_at: '2026-01-07T10:00:00Z' }
  expect(await shown('issues', '3')).toMatchObject(closed)
})

test('an issue of a fixture has the times that the fixture leaves out', async () => {
  const issues = [
    { index: 1, title: 'Old', poster: 'mia', state: 'closed', updatedAt: '2026-01-07T10:00:00+01:00' },
  ] as const
  const repositories = [{ owner: 'mia', name: 'rocket', createdAt: '2026-01-02T00:00:00Z', issues }]
  const old = await pagesOf({ users: [{ username: 'mia' }], repositories }, '2026-03-01T00:00:00Z')
  const [issue] = await hostPresenter(old, undefined).issues(['1'], { actor: 'anonymous' })
  const updated = '2026-01-07T09:00:00Z'
  expect(issue).toMatchObject({ created_at: '2026-01-02T00:00:00Z', updated_at: updated, closed_at: updated })
})

test('a pull request whose title says so is a draft', async () => {
  expect(await shown('pullRequests', '4')).toMatchObject({ draft: true, mergeable: false })
})

test('what is gone is undefined in its place', async () => {
  const found = await present.issues(['99', '1'], { actor: sam })
  expect(found.map((issue) => issue === undefined)).toEqual([true, false])
})

test('without a public address links are relative to the server', async () => {
  const [issue] = await hostPresenter(pages, undefined).issues(['1'], { actor: 'anonymous' })
  expect(issue).toMatchObject({
    url: '/api/v1/repos/Acme/Rocket/issues/1',
    html_url: '/Acme/Rocket/issues/1',
    user: { email: '3+mia@noreply.localhost' },
  })
})

test.each(['http://127.0.0.1:3000/api/v1', 'http://[::1]:3000/api/v1'])(
  'an IP address is not a name for placeholder addresses: %s',
  async (publicUrl) => {
    const [mia] = await hostPresenter(pages, publicUrl).users(['3'], { actor: sam })
    expect(mia).toMatchObject({ email: '3+mia@noreply.localhost' })
  },
)

describe('in a world of open and hidden places', () => {
  const hidden = { name: 'hidden', visibility: 'private', owners: ['olga'] } as const
  const pull = { index: 1, title: 'Add fins', poster: 'olga', pull: true } as const
  let pullRequests: ReturnType<typeof hostPresenter>['pullRequests']

  beforeAll(async () => {
    const world = {
      users: [{ username: 'olga', email: 'olga@example.com' }, { username: 'sam' }],
      organizations: [{ name: 'open', owners: ['olga'] }, hidden],
      repositories: [
        { owner: 'open', name: 'public', issues: [pull] },
        { owner: 'open', name: 'private', private: true, issues: [pull] },
        { owner: 'hidden', name: 'public', issues: [pull] },
        { owner: 'hidden', name: 'private', private: true, issues: [pull] },
        { owner: 'olga', name: 'own', issues: [pull] },
      ],
    }
    pullRequests = hostPresenter(await pagesOf(world, '2026-03-01T00:00:00Z'), undefined).pullRequests
  })

  test('a repository is internal when it is public in a private organization', async () => {
    const found = await pullRequests(['1', '2', '3', '4', '5'], { actor: 'system' })
    expect(found).toMatchObject(
      [false, false, true, false, false].map((internal) => ({ base: { repo: { internal } } })),
    )
  })

  test('an address is shown to users who are signed in, and not to anonymous callers', async () => {
    const emails = await Promise.all(
      (['anonymous', { id: '2', username: 'sam' }] as const).map(async (actor) => {
        const [json] = await pullRequests(['1'], { actor })
        return json
      }),
    )
    expect(emails).toMatchObject([
      { user: { email: '1+olga@noreply.localhost' } },
      { user: { email: 'olga@example.com' } },
    ])
  })
})
