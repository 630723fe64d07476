import { expect, it } from 'vitest'
import { createApi } from '../../../src/http-adapters/http.ts'
import { createForge } from '../../../src/index.ts'
import * as signingKeys from '../../../src/signing-keys/signing-keys.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import type { Person, World } from '../../world.ts'
import { directory, openWorld, people, present, sshKey } from '../../world.ts'
import { plainRequest } from '../dispatch.ts'

// A request makes its signal on first access, and that costs more than the rest of a small answer.

/** How often the signal of a request is read until it is answered. */
async function looksAt(
  method: string,
  path: string,
  { api = openWorld().api }: { readonly api?: World['api'] } = {},
): Promise<number> {
  let looks = 0
  const request = Object.defineProperty(plainRequest({ method, path }), 'signal', {
    get() {
      looks += 1
      return new AbortController().signal
    },
  })
  const [root = null] = people
  await api.dispatch(request, () => root)
  return looks
}

it.each([
  ['GET', '/orgs/acme/blocks'],
  ['GET', '/orgs/acme/blocks/stan'],
  ['GET', '/repos/acme/rocket/issues/pinned'],
  ['GET', '/repos/acme/rocket/new_pin_allowed'],
  ['GET', '/admin/users/stan/badges'],
  ['GET', '/repos/acme/nothing/issues/pinned'],
])('a request that waits for nothing does not read it: %s %s', async (method, path) => {
  expect(await looksAt(method, path)).toBe(0)
})

const LINE = `ssh-ed25519 ${Buffer.from('\0\0\0\x0bssh-ed25519\0\0\0 '.padEnd(51, '7')).toString('base64')}`

it.each([
  ['its source answers at once', sshKey],
  ['it has been parsed', signingKeys.sshKey(LINE)],
])('a request for a key does not read it once %s', async (_when, signingKey) => {
  await signingKey.publicKey()

  expect(await looksAt('GET', '/signing-key.pub', openWorld({ signingKey }))).toBe(0)
})

it('a policy that is waited for is waited for no longer than the client waits', async () => {
  const forge = createForge<Person, undefined>({
    storage: memoryStorage(),
    policy: { authorize: async () => ({ allow: true }) },
    membership: { isMember: () => false },
  })

  const api = createApi(forge, { directory, present })
  expect(await looksAt('GET', '/orgs/acme/blocks', { api })).toBeGreaterThan(0)
})

it('a change reads it', async () => {
  expect(await looksAt('PUT', '/orgs/acme/blocks/stan')).toBeGreaterThan(0)
})

it('a change is not written for a client that has gone', async () => {
  const { api, forge } = openWorld()
  const gone = { method: 'PUT', path: '/orgs/acme/blocks/stan', signal: AbortSignal.abort() }
  const [root = null] = people
  await api.dispatch(plainRequest(gone), () => root)

  expect((await forge.blocks.list('system', { organizationId: 6 })).items).toEqual([])
})
