import { beforeAll, describe, expect, test, vi } from 'vitest'
import { migrate } from '../../../app/standalone/host-store/host-schema.ts'
import { loadFixture } from '../../../app/standalone/host-store/load-fixture.ts'
import { openHostDatabase } from '../../../app/standalone/host-store/open-host-database.ts'
import { pageReader } from '../../../app/standalone/host-store/page-reader.ts'
import { hostPresenter } from '../../../app/standalone/presenter.ts'
import type { Fixture, StandaloneUser } from '../../../app/standalone/standalone.ts'
import type { Caller } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import { WORLD } from '../world.ts'
import SHOWN from './shown.json' with { type: 'json' }

type Present = ReturnType<typeof hostPresenter>

/** Presents from a database with a fixture in it, which was loaded at the given time. */
async function presenterOf(fixture: Fixture, publicUrl?: string, now = '2026-03-01T00:00:00.789Z'): Promise<Present> {
  vi.useFakeTimers({ now: new Date(now), toFake: ['Date'] })
  const database = await openHostDatabase({ db: ':memory:' })
  const forge = createForge({
    storage: database.storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
  })
  await migrate(database)
  await loadFixture(database, forge, fixture)
  vi.useRealTimers()
  return hostPresenter(pageReader(database), publicUrl)
}

let present: Present

beforeAll(async () => {
  present = await presenterOf(WORLD, 'https://git.example.com/api/v1')
})

const alice = { id: '1', username: 'Alice' }
const mia = { id: '3', username: 'mia' }
const sam = { id: '4', username: 'sam' }

type Json = { readonly [key: string]: unknown }

async function shown(
  kind: 'users' | 'issues' | 'pullRequests',
  id: string,
  actor: Caller<StandaloneUser> = sam,
): Promise<Json> {
  const [json] = await present[kind]([id], { actor, transaction: undefined })
  return JSON.parse(JSON.stringify(json))
}

test.each([
  ['users', '3', SHOWN.user],
  ['issues', '1', SHOWN.issue],
  ['pullRequests', '2', SHOWN.pullRequest],
] as const)('every field of %s is there, with the keys in the order of the API', async (kind, id, expected) => {
  expect(JSON.stringify(await shown(kind, id), null, 1)).toBe(JSON.stringify(expected, null, 1))
})

test('a user is shown to every caller as another signed-in user sees it', async () => {
  const self = await shown('users', '1', alice)
  expect(self).toEqual(await shown('users', '1'))
  expect(self).toMatchObject({ email: 'alice@example.com', is_admin: false, created: '2026-03-01T00:00:00Z' })
})

test.each([
  ['0000-01-01T00:00:00.9Z', '0000-01-01T00:00:00Z'],
  ['0000-01-01T00:00:00+01:00', '0000-01-01T00:00:00Z'],
  ['9999-12-31T23:59:59.9Z', '9999-12-31T23:59:59Z'],
  ['9999-12-31T23:59:59-05:00', '9999-12-31T23:59:59Z'],
])('the time %s is shown as RFC 3339 in UTC can express it', async (createdAt, created) => {
  const { users } = await presenterOf({ users: [{ username: 'mia', createdAt }] })
  expect(await users(['1'], { actor: 'anonymous', transaction: undefined })).toMatchObject([{ created }])
})

test.each([
  ['an anonymous caller', 'anonymous', { email: '3+mia@noreply.git.example.com', active: false }],
  ['another user', sam, { email: '3+mia@noreply.git.example.com', active: false }],
  ['itself', mia, { email: 'mia@example.com', active: true }],
  ['a site admin', alice, { email: 'mia@example.com', active: true }],
] as const)('the poster of an issue is shown as %s sees it', async (_, actor, expected) => {
  expect((await shown('issues', '1', actor))['user']).toMatchObject(expected)
})

test('a closed issue without assignees says so, and a draft is one by its title', async () => {
  const closed = { state: 'closed', is_locked: true, closed_at: '2026-01-07T10:00:00Z' }
  expect(await shown('issues', '3')).toMatchObject({ ...closed, assignee: null, assignees: null })
  expect(await shown('pullRequests', '2')).toMatchObject({ draft: false, assignee: null, assignees: [] })
  expect(await shown('pullRequests', '4')).toMatchObject({ draft: true, mergeable: false })
})

test('an issue of a fixture has the times that the fixture leaves out', async () => {
  const issues = [
    { index: 1, title: 'Old', poster: 'mia', state: 'closed', updatedAt: '2026-01-07T10:00:00+01:00' },
  ] as const
  const repositories = [{ owner: 'mia', name: 'rocket', createdAt: '2026-01-02T00:00:00Z', issues }]
  const { issues: old } = await presenterOf({ users: [{ username: 'mia' }], repositories })
  const updated = '2026-01-07T09:00:00Z'
  expect(await old(['1'], { actor: 'anonymous', transaction: undefined })).toMatchObject([
    { created_at: '2026-01-02T00:00:00Z', updated_at: updated, closed_at: updated },
  ])
})

test('names are percent-encoded in addresses alone', async () => {
  const { issues } = await presenterOf({
    users: [{ username: 'Älice' }],
    repositories: [{ owner: 'Älice', name: '"r"+', issues: [{ index: 1, title: 'One', poster: 'Älice' }] }],
  })
  expect(await issues(['1'], { actor: 'anonymous', transaction: undefined })).toMatchObject([
    {
      url: '/api/v1/repos/%C3%84lice/%22r%22+/issues/1',
      html_url: '/%C3%84lice/%22r%22+/issues/1',
      user: { login: 'Älice', html_url: '/%C3%84lice' },
      repository: { full_name: 'Älice/"r"+' },
    },
  ])
})

test('what is gone is undefined in its place', async () => {
  const found = await present.issues(['99', '1'], { actor: sam, transaction: undefined })
  expect(found.map((issue) => issue === undefined)).toEqual([true, false])
})

test.each([undefined, 'http://127.0.0.1:3000/api/v1', 'http://[::1]:3000/api/v1'])(
  'without a public name links are relative to the server, and placeholder addresses are of localhost: %s',
  async (publicUrl) => {
    const [issue] = await (await presenterOf(WORLD, publicUrl)).issues(['1'], { actor: sam, transaction: undefined })
    const site = publicUrl?.replace('/api/v1', '') ?? ''
    expect(issue).toMatchObject({
      url: `${site}/api/v1/repos/Acme/Rocket/issues/1`,
      html_url: `${site}/Acme/Rocket/issues/1`,
      user: { email: '3+mia@noreply.localhost' },
    })
  },
)

describe('in a world of open and hidden places', () => {
  const pull = { index: 1, title: 'Add fins', poster: 'olga', pull: true } as const
  const issues = [pull]
  let pullRequests: Present['pullRequests']

  beforeAll(async () => {
    const world: Fixture = {
      users: [{ username: 'olga', email: 'olga@example.com' }, { username: 'sam' }],
      organizations: [{ name: 'open' }, { name: 'hidden', visibility: 'private' }],
      repositories: [
        { owner: 'open', name: 'public', issues },
        { owner: 'open', name: 'private', private: true, issues },
        { owner: 'hidden', name: 'public', issues },
        { owner: 'hidden', name: 'private', private: true, issues },
        { owner: 'olga', name: 'own', issues },
      ],
    }
    pullRequests = (await presenterOf(world)).pullRequests
  })

  test('a repository is internal when it is public in a private organization', async () => {
    const found = await pullRequests(['1', '2', '3', '4', '5'], { actor: 'system', transaction: undefined })
    expect(found).toMatchObject(
      [false, false, true, false, false].map((internal) => ({ base: { repo: { internal } } })),
    )
  })

  test.each([
    ['anonymous', '1+olga@noreply.localhost'],
    [{ id: '2', username: 'sam' }, 'olga@example.com'],
  ] as const)('an address is shown to users who are signed in alone: %j', async (actor, email) => {
    expect(await pullRequests(['1'], { actor, transaction: undefined })).toMatchObject([{ user: { email } }])
  })
})
