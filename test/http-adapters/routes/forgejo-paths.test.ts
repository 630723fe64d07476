import { describe, expect, it } from 'vitest'
import { forgejoRoutes } from '../../../src/http-adapters/routes/route-table.ts'
import { authenticate, openCase, openpgpKey, openWorld, sshKey } from '../../world.ts'
import type { Ask, Case } from '../cases/case.ts'
import { dispatched, pathTo, plainRequest } from '../dispatch.ts'
import { runCase } from '../run-case.ts'

const olga = (method: string, path: string): Ask => ['olga', method, path]
const ORG = '/orgs/acme'
const SIDES = [ORG, '/user']

const CASES: readonly Case[] = [
  ...SIDES.flatMap((side): readonly Case[] => [
    {
      fact: `${side}: the list has ids and times, oldest first, and a total but no links`,
      before: [olga('PUT', `${side}/block/rita`), olga('PUT', `${side}/block/stan`), olga('PUT', `${side}/block/ada`)],
      ask: olga('GET', `${side}/list_blocked?limit=2`),
      status: 200,
      expected: {
        json: [
          { block_id: 6, created_at: '2026-01-01T00:00:03Z' },
          { block_id: 7, created_at: '2026-01-01T00:00:04Z' },
        ],
        headers: { 'x-total-count': '3', link: null, 'access-control-expose-headers': 'X-Total-Count' },
      },
    },
    {
      fact: `${side}: nothing is blocked at first`,
      ask: olga('GET', `${side}/list_blocked`),
      status: 200,
      expected: { json: [] },
    },
    {
      fact: `${side}: a block is one of Gitea's path, without a note`,
      before: [olga('PUT', `${side}/block/Stan?note=${'n'.repeat(256)}`)],
      ask: olga('GET', `${side}/blocks`),
      status: 200,
      expected: { json: [{ id: 7, login: 'stan' }] },
    },
    {
      fact: `${side}: who is blocked already is blocked once`,
      before: [olga('PUT', `${side}/blocks/stan`), olga('PUT', `${side}/block/stan`)],
      ask: olga('GET', `${side}/list_blocked`),
      status: 200,
      expected: { json: [{ block_id: 7, created_at: '2026-01-01T00:00:03Z' }] },
    },
    {
      fact: `${side}: a block is lifted, and lifted again`,
      before: [
        olga('PUT', `${side}/block/stan`),
        olga('PUT', `${side}/unblock/stan`),
        olga('PUT', `${side}/unblock/stan`),
      ],
      ask: olga('GET', `${side}/list_blocked`),
      status: 200,
      expected: { json: [] },
    },
    ...(['block', 'unblock'] as const).flatMap((verb): readonly Case[] => [
      {
        fact: `${side}: ${verb} of an organization is 422`,
        ask: olga('PUT', `${side}/${verb}/hidden`),
        status: 422,
        expected: { code: 'CANNOT_BLOCK_ORGANIZATION' },
      },
      {
        fact: `${side}: ${verb} of an unknown user is 404`,
        ask: olga('PUT', `${side}/${verb}/nothing`),
        status: 404,
        expected: { code: 'USER_NOT_FOUND' },
      },
      {
        fact: `${side}: ${verb} without a token is 401`,
        ask: ['anonymous', 'PUT', `${side}/${verb}/stan`],
        status: 401,
        expected: { code: 'UNAUTHENTICATED' },
      },
    ]),
    {
      fact: `${side}: oneself cannot be blocked`,
      ask: olga('PUT', `${side}/block/olga`),
      status: 422,
      expected: { code: 'CANNOT_BLOCK_SELF' },
    },
  ]),
  {
    fact: 'a member cannot be blocked',
    ask: olga('PUT', `${ORG}/block/mia`),
    status: 422,
    expected: { code: 'CANNOT_BLOCK_MEMBER' },
  },
  {
    fact: 'who is no owner of the organization is 403',
    ask: ['stan', 'GET', `${ORG}/list_blocked`],
    status: 403,
    expected: { code: 'FORBIDDEN' },
  },
  {
    fact: 'a hidden organization is 404',
    ask: ['stan', 'PUT', '/orgs/hidden/block/rita'],
    status: 404,
    expected: { code: 'ORGANIZATION_NOT_FOUND' },
  },
  {
    fact: 'the SSH key',
    world: { signingKey: sshKey },
    ask: ['anonymous', 'GET', '/signing-key.ssh'],
    status: 200,
    expected: {
      text: 'ssh-ed25519 AAAA demo\n',
      headers: { 'content-type': 'text/plain; charset=utf-8', etag: '"abc"' },
    },
  },
  {
    fact: 'no SSH key',
    ask: ['anonymous', 'GET', '/signing-key.ssh'],
    status: 404,
    expected: { code: 'NO_SIGNING_KEY' },
  },
  {
    fact: 'a key of the other format',
    world: { signingKey: openpgpKey },
    ask: ['anonymous', 'GET', '/signing-key.ssh'],
    status: 404,
    expected: { message: 'signing key format is openpgp' },
  },
  {
    fact: 'a method that Forgejo does not have',
    ask: olga('DELETE', `${ORG}/block/stan`),
    status: 405,
    expected: { code: 'METHOD_NOT_ALLOWED', headers: { allow: 'PUT, OPTIONS' } },
  },
]

describe("Forgejo's paths", () => {
  it.each(CASES)('$fact', async (given) => {
    const { api } = await openCase({ forgejoPaths: true, ...given.world })
    await runCase(given, (sent) => dispatched(api, sent, authenticate))
  })

  it('are passed on without the option, or without their service, and are in no OpenAPI document', async () => {
    const worlds = [openWorld(), openWorld({ forgejoPaths: true, services: ['pins'] })]
    for (const { method, path } of forgejoRoutes) {
      for (const { api } of worlds) {
        expect(await api.dispatch(plainRequest({ method, path: pathTo(path) }), () => null)).toBeUndefined()
      }
    }
    expect(openWorld({ forgejoPaths: true }).api.openApi()).toEqual(openWorld().api.openApi())
  })

  it('need an option that is true or false', () => {
    expect(() => openWorld({ forgejoPaths: 'yes' as unknown as boolean })).toThrow(
      'createApi needs forgejoPaths: true or false',
    )
  })
})
