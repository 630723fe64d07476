import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Api } from 'gitea-js'
import { giteaApi } from 'gitea-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateKey } from '../../src/signing-keys/signing-keys.ts'
import type { Running } from '../start-forgelet.ts'
import { newFolder, startForgelet } from '../start-forgelet.ts'
import { worldFixture } from '../world.ts'

// The client that users have, against forgelet serve: what it sends is understood, and what it is answered it understands.

let folder: string
let openpgp: Running
let ssh: Running

async function serveWithKey(format: 'openpgp' | 'ssh'): Promise<Running> {
  const { privateKey } = await generateKey({ format, name: 'Forge', email: 'forge@example.com' })
  const path = join(folder, format)
  await writeFile(path, privateKey, { mode: 0o600 })
  return startForgelet(['--db', ':memory:', '--signing-key', path], { fixture: worldFixture })
}

beforeAll(async () => {
  folder = await newFolder()
  openpgp = await serveWithKey('openpgp')
  ssh = await serveWithKey('ssh')
})

afterAll(async () => void (await Promise.all([openpgp.stop(), ssh.stop()])))

/** The client, signed in with the token of this name. */
function as(token?: string): Api<unknown> {
  return giteaApi(new URL(openpgp.url).origin, token === undefined ? {} : { token })
}

/** What a call ends in: the status, and the code of an error body. */
async function ending(call: Promise<Response>): Promise<{ readonly status: number; readonly code?: string }> {
  try {
    return { status: (await call).status }
  } catch (refusal) {
    // What the client throws for every reply that is not 2xx.
    const { status, error } = refusal as { readonly status: number; readonly error: { readonly code: string } }
    return { status, code: error.code }
  }
}

test('the signing key of the instance is that of a repository, in the format that there is', async () => {
  const instance = await as().signingKeyGpg.getSigningKey({ format: 'text' })
  const repository = await as().repos.repoSigningKey('acme', 'rocket', { format: 'text' })
  const other = await fetch(`${ssh.url}/signing-key.pub`)

  expect(instance.data).toMatch(/^-----BEGIN PGP PUBLIC KEY BLOCK-----/)
  expect(repository.data).toBe(instance.data)
  expect(await other.text()).toMatch(/^ssh-ed25519 /)
  expect(await (await fetch(`${ssh.url}/signing-key.gpg`)).json()).toMatchObject({
    message: 'signing key format is ssh',
  })
  expect((await ending(as('stan').repos.repoSigningKey('acme', 'secret', { format: 'text' }))).status).toBe(404)
})

test('pins are made, listed in order, moved, removed, and counted', async () => {
  const { repos } = as('ada')
  const numbers = async () => (await repos.repoListPinnedIssues('acme', 'rocket')).data.map(({ number }) => number)

  for (const index of [1, 2, 7]) expect(await ending(repos.pinIssue('acme', 'rocket', index))).toEqual({ status: 204 })
  expect(await ending(repos.moveIssuePin('acme', 'rocket', 2, 1))).toEqual({ status: 204 })
  expect(await numbers()).toEqual([2, 1])
  expect((await repos.repoListPinnedPullRequests('acme', 'rocket')).data).toMatchObject([{ number: 7 }])
  expect(await ending(repos.unpinIssue('acme', 'rocket', 1))).toEqual({ status: 204 })
  expect(await numbers()).toEqual([2])
  expect((await repos.repoNewPinAllowed('acme', 'rocket')).data).toEqual({ issues: true, pull_requests: true })
})

const note = 'spam, \u00fcn\u00efc\u00f6de \u{1f989}'

test('blocks are made, checked, listed page by page, and lifted', async () => {
  const { orgs } = as('olga')
  expect(await ending(orgs.organizationCheckUserBlock('acme', 'stan'))).toEqual({ status: 404, code: 'NOT_BLOCKED' })
  for (const name of ['stan', 'Will', 'rita']) {
    expect(await ending(orgs.organizationBlockUser('acme', name, { note }))).toEqual({ status: 204 })
  }
  expect(await ending(orgs.organizationCheckUserBlock('acme', 'STAN'))).toEqual({ status: 204 })

  const second = await orgs.organizationListBlocks('acme', { page: 2, limit: 2 })
  expect(second.data).toMatchObject([{ login: 'rita', username: 'rita', is_admin: false, active: false }])
  expect(second.headers.get('x-total-count')).toBe('3')
  expect(second.headers.get('link')).toMatch(/page=1[^,]*>; rel="first",<[^,]*page=1[^,]*>; rel="prev"$/)
  expect(await ending(orgs.organizationUnblockUser('acme', 'stan'))).toEqual({ status: 204 })
  expect((await orgs.organizationListBlocks('acme')).data.map(({ login }) => login)).toEqual(['will', 'rita'])
})

test('badges are granted, listed under both spellings, and revoked', async () => {
  const { admin } = as('root')
  const badge_slugs = ['founder', 'night-owl']

  expect(await ending(admin.adminAddUserBadges('mia', { badge_slugs }))).toEqual({ status: 204 })
  const { data } = await admin.adminListUserBadges('MIA')
  expect(data[1]).toMatchObject({ id: 1, slug: 'night-owl', Slug: 'night-owl', Description: 'The night-owl' })
  expect(await ending(admin.adminDeleteUserBadges('mia', { badge_slugs: ['founder'] }))).toEqual({ status: 204 })
  expect((await admin.adminListUserBadges('mia')).data.map(({ slug }) => slug)).toEqual(['night-owl'])
})
