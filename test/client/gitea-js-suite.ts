import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Api, Issue, PullRequest, User } from 'gitea-js'
import { giteaApi } from 'gitea-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey } from '../../src/signing-keys/signing-keys.ts'
import type { Served, StartServer } from './served.ts'

type Who = 'root' | 'olga' | 'mia' | 'ada' | 'wim' | 'rea' | 'stan' | 'anonymous' | 'wrong'

// A real client over real HTTP.

/** What a call of the client ends in: the status, and the code of an error body. */
interface Ending {
  readonly status: number
  readonly code?: string
}

async function ending(call: Promise<Response>): Promise<Ending> {
  try {
    return { status: (await call).status }
  } catch (refusal) {
    const { status, error } = refusal as { readonly status: number; readonly error: { readonly code: string } }
    return { status, code: error.code }
  }
}

let folder: string
let keys: readonly string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-keys-'))
  keys = await Promise.all(
    (['openpgp', 'ssh'] as const).map(async (format) => {
      const path = join(folder, format)
      const { privateKey } = await generateKey({ format, name: 'Forge', email: 'forge@example.com' })
      await writeFile(path, privateKey, { mode: 0o600 })
      return path
    }),
  )
})

afterAll(() => rm(folder, { recursive: true }))

/**
 * What gitea-js does on a server, and on another with a key of the other format.
 *
 * @param isProgram - whether the server is a whole program, with answers for every path
 */
export function giteaJsSuite(name: string, start: StartServer, isProgram: boolean): void {
  describe(`gitea-js against ${name}`, () => giteaJsTests(start, isProgram))
}

function giteaJsTests(start: StartServer, isProgram: boolean): void {
  let served: Served
  let other: Served

  beforeAll(async () => {
    served = await start({ signingKey: keys[0] })
    other = await start({ signingKey: keys[1] })
  })

  afterAll(() => Promise.all([served.stop(), other.stop()]))

  function as(who: Who, server: Served = served): Api<unknown> {
    const token = who === 'anonymous' ? {} : { token: who === 'wrong' ? 'no-such-token' : `${who}-token` }
    return giteaApi(new URL(server.url).origin, token)
  }

  function raw(path: string, who: Who = 'anonymous', server: Served = served): Promise<Response> {
    const headers = who === 'anonymous' ? {} : { authorization: `token ${who}-token` }
    return fetch(`${server.url}${path}`, { headers })
  }

  describe('signing keys', () => {
    test('serves the OpenPGP key, of the instance and of a repository', async () => {
      const instance = await as('anonymous').signingKeyGpg.getSigningKey({ format: 'text' })
      const repository = await as('anonymous').repos.repoSigningKey('acme', 'rocket', { format: 'text' })
      expect(instance.data).toMatch(/^-----BEGIN PGP PUBLIC KEY BLOCK-----/)
      expect(repository.data).toBe(instance.data)
    })

    test('serves the SSH key, of the instance and of a repository', async () => {
      const instance = await raw('/signing-key.pub', 'anonymous', other)
      const repository = await raw('/repos/acme/rocket/signing-key.pub', 'anonymous', other)
      const text = await instance.text()
      expect([instance.status, instance.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
      expect(text).toMatch(/^ssh-ed25519 /)
      expect(await repository.text()).toBe(text)
    })

    test('names the format there is when the other one is asked for', async () => {
      for (const path of ['/signing-key.pub', '/repos/acme/rocket/signing-key.pub']) {
        const reply = await raw(path)
        expect([reply.status, await reply.json()]).toMatchObject([404, { message: 'signing key format is openpgp' }])
      }
      for (const path of ['/signing-key.gpg', '/repos/acme/rocket/signing-key.gpg']) {
        const reply = await raw(path, 'anonymous', other)
        expect([reply.status, await reply.json()]).toMatchObject([404, { message: 'signing key format is ssh' }])
      }
    })

    test('conceals a private repository before anything about keys', async () => {
      const outcome = await ending(as('stan').repos.repoSigningKey('acme', 'secret', { format: 'text' }))
      expect(outcome.status).toBe(404)
      expect((await raw('/repos/acme/secret/signing-key.pub', 'stan')).status).toBe(404)
      expect((await raw('/repos/acme/secret/signing-key.pub', 'rea', other)).status).toBe(200)
    })

    test('refuses a wrong credential', async () => {
      expect(await ending(as('wrong').signingKeyGpg.getSigningKey())).toMatchObject({ status: 401 })
      const headers = { authorization: 'token no-such-token' }
      expect((await fetch(`${served.url}/signing-key.pub`, { headers })).status).toBe(401)
    })

    test('answers 304 when the client has the key', async () => {
      const first = await raw('/signing-key.gpg')
      const again = await fetch(`${served.url}/signing-key.gpg`, {
        headers: { 'if-none-match': first.headers.get('etag') ?? '' },
      })
      expect([again.status, await again.text()]).toEqual([304, ''])
    })
  })

  describe('pins', () => {
    test('pins, lists in order, moves, unpins and reports what is still allowed', async () => {
      const { repos } = as('ada')
      const numbers = async (): Promise<unknown> =>
        (await repos.repoListPinnedIssues('acme', 'rocket')).data.map((issue: Issue) => [issue.number, pinOrder(issue)])

      expect((await repos.repoListPinnedIssues('acme', 'rocket')).data).toEqual([])
      for (const index of [1, 2, 3])
        expect(await ending(repos.pinIssue('acme', 'rocket', index))).toEqual({ status: 204 })
      expect((await repos.repoNewPinAllowed('acme', 'rocket')).data).toEqual({ issues: false, pull_requests: true })
      expect(await ending(repos.pinIssue('acme', 'rocket', 4))).toEqual({ status: 400, code: 'PIN_LIMIT_REACHED' })
      expect(await ending(repos.pinIssue('acme', 'rocket', 2))).toEqual({ status: 204 })
      expect(await ending(repos.moveIssuePin('acme', 'rocket', 3, 1))).toEqual({ status: 204 })
      expect(await numbers()).toEqual([
        [3, 1],
        [1, 2],
        [2, 3],
      ])
      expect(await ending(repos.moveIssuePin('ACME', 'Rocket', 3, 99))).toEqual({ status: 204 })
      expect(await ending(repos.unpinIssue('acme', 'rocket', 2))).toEqual({ status: 204 })
      expect(await ending(repos.unpinIssue('acme', 'rocket', 2))).toEqual({ status: 204 })
      expect(await numbers()).toEqual([
        [1, 1],
        [3, 2],
      ])
      expect((await repos.repoNewPinAllowed('acme', 'rocket')).data).toEqual({ issues: true, pull_requests: true })
    })

    test('keeps pull requests on a board of their own', async () => {
      const { repos } = as('ada')
      expect(await ending(repos.pinIssue('acme', 'rocket', 7))).toEqual({ status: 204 })
      const { data } = await as('anonymous').repos.repoListPinnedPullRequests('acme', 'rocket')
      expect(data.map((pull: PullRequest) => [pull.number, pinOrder(pull)])).toEqual([[7, 1]])
    })

    test('shows the pinned issue as the API describes it', async () => {
      const { repos } = as('olga')
      await repos.pinIssue('olga', 'own', 1)
      const { data, headers } = await repos.repoListPinnedIssues('olga', 'own')
      expect(headers.get('x-total-count')).toBe('1')
      expect(data[0]).toMatchObject({
        number: 1,
        title: 'Mine',
        state: 'open',
        user: { login: 'olga' },
        repository: { full_name: 'olga/own' },
        pull_request: null,
      })
    })

    const failures: readonly [string, Who, string, string, number, number, string][] = [
      ['a wrong token', 'wrong', 'acme', 'rocket', 1, 401, 'INVALID_CREDENTIALS'],
      ['anonymous', 'anonymous', 'acme', 'rocket', 1, 401, 'UNAUTHENTICATED'],
      ['anonymous on a private repository', 'anonymous', 'acme', 'secret', 1, 404, 'REPOSITORY_NOT_FOUND'],
      ['a stranger on a private repository', 'stan', 'acme', 'secret', 1, 404, 'REPOSITORY_NOT_FOUND'],
      ['a stranger', 'stan', 'acme', 'rocket', 1, 403, 'FORBIDDEN'],
      ['a reader', 'rea', 'acme', 'rocket', 1, 403, 'FORBIDDEN'],
      ['a writer', 'wim', 'acme', 'rocket', 1, 403, 'FORBIDDEN'],
      ['an admin, and an unknown issue', 'ada', 'acme', 'rocket', 99, 404, 'ISSUE_NOT_FOUND'],
      ['an admin, and an unknown repository', 'ada', 'acme', 'nowhere', 1, 404, 'REPOSITORY_NOT_FOUND'],
      ['an admin, and an unknown owner', 'ada', 'anonymous', 'rocket', 1, 404, 'REPOSITORY_NOT_FOUND'],
    ]

    test.each(failures)('refuses %s', async (_who, who, owner, repo, index, status, code) => {
      const { repos } = as(who)
      expect(await ending(repos.pinIssue(owner, repo, index))).toEqual({ status, code })
      expect(await ending(repos.unpinIssue(owner, repo, index))).toEqual({ status, code })
      expect(await ending(repos.moveIssuePin(owner, repo, index, 1))).toEqual({ status, code })
    })

    test('refuses a move of what is not pinned, and to no position', async () => {
      const { repos } = as('ada')
      expect(await ending(repos.moveIssuePin('acme', 'rocket', 5, 1))).toEqual({
        status: 404,
        code: 'ISSUE_NOT_PINNED',
      })
      expect(await ending(repos.moveIssuePin('acme', 'rocket', 5, 0))).toEqual({ status: 422, code: 'INVALID_INPUT' })
    })

    test('conceals the lists of a private repository', async () => {
      const { repos } = as('stan')
      const concealed = { status: 404, code: 'REPOSITORY_NOT_FOUND' }
      expect(await ending(repos.repoListPinnedIssues('acme', 'secret'))).toEqual(concealed)
      expect(await ending(repos.repoListPinnedPullRequests('acme', 'secret'))).toEqual(concealed)
      expect(await ending(repos.repoNewPinAllowed('acme', 'secret'))).toEqual(concealed)
      expect(await ending(as('rea').repos.repoListPinnedIssues('acme', 'secret'))).toEqual({ status: 200 })
    })
  })

  describe('blocks', () => {
    test('blocks, checks, lists page by page, and lifts', async () => {
      const { orgs } = as('olga')
      expect(await ending(orgs.organizationCheckUserBlock('acme', 'stan'))).toMatchObject({ status: 404 })
      for (const name of ['stan', 'eve', 'Bob']) {
        expect(await ending(orgs.organizationBlockUser('acme', name, { note: 'spam, ünïcode 🦉' }))).toEqual({
          status: 204,
        })
      }
      expect(await ending(orgs.organizationCheckUserBlock('acme', 'STAN'))).toEqual({ status: 204 })

      const second = await orgs.organizationListBlocks('acme', { page: 2, limit: 2 })
      expect(second.data.map((user: User) => user.login)).toEqual(['bob'])
      expect(second.headers.get('x-total-count')).toBe('3')
      expect(second.headers.get('link')).toMatch(/page=1[^,]*>; rel="first",<[^,]*page=1[^,]*>; rel="prev"$/)

      expect(await ending(orgs.organizationUnblockUser('acme', 'stan'))).toEqual({ status: 204 })
      const all = await orgs.organizationListBlocks('acme')
      expect(all.data.map((user: User) => user.login)).toEqual(['eve', 'bob'])
    })

    test('shows a blocked user as another user sees them', async () => {
      const { data } = await as('root').orgs.organizationListBlocks('acme')
      expect(data[0]).toMatchObject({ login: 'eve', username: 'eve', is_admin: false, active: false, login_name: '' })
    })

    const refusals: readonly [string, Who, string, string, number, string][] = [
      ['a wrong token', 'wrong', 'acme', 'eve', 401, 'INVALID_CREDENTIALS'],
      ['anonymous', 'anonymous', 'acme', 'eve', 401, 'UNAUTHENTICATED'],
      ['anonymous on a private organization', 'anonymous', 'hidden', 'eve', 404, 'ORGANIZATION_NOT_FOUND'],
      ['a stranger on a private organization', 'rea', 'hidden', 'eve', 404, 'ORGANIZATION_NOT_FOUND'],
      ['a stranger', 'rea', 'acme', 'eve', 403, 'FORBIDDEN'],
      ['a member', 'mia', 'acme', 'eve', 403, 'FORBIDDEN'],
      ['an owner, and an unknown organization', 'olga', 'nowhere', 'eve', 404, 'ORGANIZATION_NOT_FOUND'],
      ['an owner, and a user in the place of the organization', 'olga', 'mia', 'eve', 404, 'ORGANIZATION_NOT_FOUND'],
      ['an owner, and an unknown user', 'olga', 'acme', 'nowho', 404, 'USER_NOT_FOUND'],
    ]

    test.each(refusals)('refuses %s', async (_who, who, org, user, status, code) => {
      const { orgs } = as(who)
      expect(await ending(orgs.organizationBlockUser(org, user))).toEqual({ status, code })
      expect(await ending(orgs.organizationUnblockUser(org, user))).toEqual({ status, code })
      expect(await ending(orgs.organizationCheckUserBlock(org, user))).toEqual({ status, code })
      if (code === 'USER_NOT_FOUND') return
      expect(await ending(orgs.organizationListBlocks(org))).toEqual({ status, code })
    })

    test('refuses an organization, the caller, a member and a second block, each with its own code', async () => {
      const { orgs } = as('olga')
      const refusal = (name: string): Promise<Ending> => ending(orgs.organizationBlockUser('acme', name))
      expect(await refusal('hidden')).toEqual({ status: 422, code: 'CANNOT_BLOCK_ORGANIZATION' })
      expect(await refusal('olga')).toEqual({ status: 422, code: 'CANNOT_BLOCK_SELF' })
      expect(await refusal('mia')).toEqual({ status: 422, code: 'CANNOT_BLOCK_MEMBER' })
      expect(await refusal('eve')).toEqual({ status: 422, code: 'ALREADY_BLOCKED' })
      expect(await ending(orgs.organizationUnblockUser('acme', 'rea'))).toEqual({ status: 422, code: 'NOT_BLOCKED' })
    })

    test('refuses a note of more than 255 characters', async () => {
      const call = as('olga').orgs.organizationBlockUser('acme', 'rea', { note: 'x'.repeat(256) })
      expect(await ending(call)).toEqual({ status: 422, code: 'INVALID_INPUT' })
    })
  })

  describe('badges', () => {
    test('grants, lists under both spellings, and revokes', async () => {
      const { admin } = as('root')
      expect(
        await ending(admin.adminAddUserBadges('mia', { badge_slugs: ['founder', 'night-owl', 'founder'] })),
      ).toEqual({ status: 204 })
      const { data, headers } = await admin.adminListUserBadges('MIA')
      expect(headers.get('x-total-count')).toBe('2')
      expect(data.map((badge) => badge.slug)).toEqual(['founder', 'night-owl'])
      expect(data[1]).toMatchObject({
        slug: 'night-owl',
        Slug: 'night-owl',
        Description: 'Ships after midnight',
        ImageURL: '',
      })
      expect(typeof data[0]?.id).toBe('number')
      expect(await ending(admin.adminDeleteUserBadges('mia', { badge_slugs: ['founder', 'mentor'] }))).toEqual({
        status: 204,
      })
      expect((await admin.adminListUserBadges('mia')).data.map((badge) => badge.slug)).toEqual(['night-owl'])
    })

    test('takes an empty list for nothing to do', async () => {
      expect(await ending(as('root').admin.adminAddUserBadges('mia', { badge_slugs: [] }))).toEqual({ status: 204 })
    })

    const refusals: readonly [string, Who, string, string, number, string][] = [
      ['a wrong token', 'wrong', 'mia', 'founder', 401, 'INVALID_CREDENTIALS'],
      ['anonymous', 'anonymous', 'mia', 'founder', 401, 'UNAUTHENTICATED'],
      ['callers who are not site admins', 'olga', 'mia', 'founder', 403, 'FORBIDDEN'],
      ['callers who are not site admins, before it looks up the user', 'olga', 'nowho', 'founder', 403, 'FORBIDDEN'],
      ['an unknown user', 'root', 'nowho', 'founder', 404, 'USER_NOT_FOUND'],
      ["an organization's name", 'root', 'acme', 'founder', 404, 'USER_NOT_FOUND'],
      ['an unknown badge', 'root', 'mia', 'no-such-badge', 422, 'UNKNOWN_BADGE'],
    ]

    test.each(refusals)('refuses %s', async (_who, who, user, slug, status, code) => {
      const { admin } = as(who)
      expect(await ending(admin.adminAddUserBadges(user, { badge_slugs: [slug] }))).toEqual({ status, code })
      expect(await ending(admin.adminDeleteUserBadges(user, { badge_slugs: [slug] }))).toEqual({ status, code })
      if (status !== 422) expect(await ending(admin.adminListUserBadges(user))).toEqual({ status, code })
    })

    test('refuses an invalid body, naming the pointer', async () => {
      const reply = await fetch(`${served.url}/admin/users/mia/badges`, {
        method: 'POST',
        headers: { authorization: 'token root-token', 'content-type': 'application/json' },
        body: '{"badge_slugs":["founder",7]}',
      })
      expect([reply.status, await reply.json()]).toMatchObject([
        422,
        { code: 'INVALID_INPUT', violations: [{ pointer: '/badge_slugs/1' }] },
      ])
    })
  })

  if (!isProgram) return

  // What is not of the API is the server's own to answer.
  test.each(['/nowhere', '/repos/acme/rocket/issues', '/repos/%zz/rocket/issues/pinned'])(
    'an unknown path is a JSON error: %s',
    async (path) => {
      const reply = await raw(path)
      expect([reply.status, await reply.json()]).toMatchObject([404, { code: 'ROUTE_NOT_FOUND' }])
    },
  )

  test('prints its version', async () => {
    expect(await (await raw('/version')).json()).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+\+forgelet-/),
    })
  })
}

function pinOrder(item: object): unknown {
  return 'pin_order' in item ? item.pin_order : undefined
}
