import { describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/index.ts'
import { seedFromFixture } from '../../../src/standalone/fixture/seed-from-fixture.ts'
import type { StandaloneUser } from '../../../src/standalone/host-ports.ts'
import { MemoryHostStore } from '../../../src/standalone/host-store/memory-host-store.ts'
import { hostPresenter } from '../../../src/standalone/presenter/presenter.ts'
import { wireTime } from '../../../src/standalone/presenter/site-links.ts'
import { WORLD } from '../world.ts'

const store = new MemoryHostStore()
store.load(seedFromFixture(WORLD, new Date('2026-03-01T00:00:00.789Z')))
const present = hostPresenter(store, 'https://git.example.com/api/v1')

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

function keys(text: string): readonly string[] {
  return text.split(/[\s,]+/)
}

const USER_KEYS =
  keys(`id login login_name source_id full_name email avatar_url html_url language is_admin last_login created
  restricted active prohibit_login location website description visibility followers_count following_count starred_repos_count username`)

const ISSUE_KEYS =
  keys(`id url html_url number user original_author original_author_id title body ref assets labels milestone
  projects assignee assignees state is_locked comments created_at updated_at closed_at due_date time_estimate pull_request
  repository pin_order content_version`)

const PULL_REQUEST_KEYS = keys(`id url number user title body labels milestone assignee assignees requested_reviewers
  requested_reviewers_teams state draft is_locked comments review_comments html_url diff_url patch_url mergeable merged
  merged_at merge_commit_sha merged_by allow_maintainer_edit base head merge_base due_date created_at updated_at closed_at
  pin_order content_version`)

const REPOSITORY_KEYS = keys(`id owner name full_name description empty private fork template mirror size language
  languages_url html_url url link ssh_url clone_url original_url website stars_count forks_count watchers_count branch_count
  open_issues_count open_pr_counter release_counter default_branch archived created_at updated_at archived_at has_code
  has_issues has_wiki has_pull_requests has_projects projects_mode has_releases has_packages has_actions
  ignore_whitespace_conflicts allow_merge_commits allow_rebase allow_rebase_explicit allow_squash_merge
  allow_fast_forward_only_merge allow_merge_update allow_rebase_update allow_manual_merge autodetect_manual_merge
  default_delete_branch_after_merge default_merge_style default_update_style default_allow_maintainer_edit avatar_url internal
  mirror_interval object_format_name mirror_updated mirror_last_sync_at topics licenses`)

describe('keys come in the order of the API', () => {
  test('of a user', async () => {
    expect(Object.keys(await shown('users', '1'))).toEqual(USER_KEYS)
  })

  test('of an issue', async () => {
    expect(Object.keys(await shown('issues', '1'))).toEqual(ISSUE_KEYS)
  })

  test('of a pull request', async () => {
    expect(Object.keys(await shown('pullRequests', '2'))).toEqual(PULL_REQUEST_KEYS)
  })

  test("of a pull request's repository", async () => {
    const { base } = await shown('pullRequests', '2')
    expect(Object.keys((base as Json)['repo'] as Json)).toEqual(REPOSITORY_KEYS)
  })
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

test('an issue is shown whole', async () => {
  const issue = await shown('issues', '1')
  expect(issue).toMatchObject({
    id: 1,
    url: 'https://git.example.com/api/v1/repos/Acme/Rocket/issues/1',
    html_url: 'https://git.example.com/Acme/Rocket/issues/1',
    number: 1,
    title: 'Read this first',
    body: 'Rules',
    state: 'open',
    comments: 2,
    created_at: '2026-01-05T10:00:00Z',
    updated_at: '2026-02-01T09:30:00Z',
    closed_at: null,
    pull_request: null,
    repository: { id: 1, name: 'Rocket', owner: 'Acme', full_name: 'Acme/Rocket' },
    assignee: { login: 'olga', email: '2+olga@noreply.git.example.com' },
  })
  expect(issue['assignees']).toHaveLength(2)
  expect(issue['labels']).toMatchObject([
    { name: 'idea', color: 'cccccc' },
    { id: 1, name: 'bug', color: 'ee0701' },
  ])
})

test('an issue without assignees has null, a pull request an empty list', async () => {
  expect(await shown('issues', '3')).toMatchObject({ assignee: null, assignees: null })
  expect(await shown('pullRequests', '2')).toMatchObject({ assignee: null, assignees: [] })
})

test('a closed and locked issue says so', async () => {
  const closed = { state: 'closed', is_locked: true, closed_at: '2026-01-07T10:00:00Z' }
  expect(await shown('issues', '3')).toMatchObject(closed)
})

test('a pull request names its branches and pages', async () => {
  expect(await shown('pullRequests', '2')).toMatchObject({
    url: 'https://git.example.com/Acme/Rocket/pulls/2',
    diff_url: 'https://git.example.com/Acme/Rocket/pulls/2.diff',
    draft: false,
    base: { label: 'main', repo_id: 1, repo: { open_issues_count: 1, open_pr_counter: 2 } },
    head: { label: 'fins', ref: 'fins' },
  })
})

test('a pull request whose title says so is a draft', async () => {
  expect(await shown('pullRequests', '4')).toMatchObject({ draft: true, mergeable: false })
})

test('what is gone is undefined in its place', async () => {
  const found = await present.issues(['99', '1'], { actor: sam })
  expect(found.map((issue) => issue === undefined)).toEqual([true, false])
})

test('without a public address links are relative to the server', async () => {
  const [issue] = await hostPresenter(store, undefined).issues(['1'], { actor: 'anonymous' })
  expect(issue).toMatchObject({
    url: '/api/v1/repos/Acme/Rocket/issues/1',
    html_url: '/Acme/Rocket/issues/1',
    user: { email: '3+mia@noreply.localhost' },
  })
})

test.each(['http://127.0.0.1:3000/api/v1', 'http://[::1]:3000/api/v1'])(
  'an IP address is not a name for placeholder addresses: %s',
  async (publicUrl) => {
    const [mia] = await hostPresenter(store, publicUrl).users(['3'], { actor: sam })
    expect(mia).toMatchObject({ email: '3+mia@noreply.localhost' })
  },
)

describe('in a world of open and hidden places', () => {
  const world = new MemoryHostStore()
  const hidden = { name: 'hidden', visibility: 'private', owners: ['olga'] } as const
  const pull = { index: 1, title: 'Add fins', poster: 'olga', pull: true } as const
  world.load(
    seedFromFixture(
      {
        users: [{ username: 'olga', email: 'olga@example.com' }, { username: 'sam' }],
        organizations: [{ name: 'open', owners: ['olga'] }, hidden],
        repositories: [
          { owner: 'open', name: 'public', issues: [pull] },
          { owner: 'open', name: 'private', private: true, issues: [pull] },
          { owner: 'hidden', name: 'public', issues: [pull] },
          { owner: 'hidden', name: 'private', private: true, issues: [pull] },
          { owner: 'olga', name: 'own', issues: [pull] },
        ],
      },
      new Date('2026-03-01T00:00:00Z'),
    ),
  )
  const { pullRequests } = hostPresenter(world, undefined)

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
