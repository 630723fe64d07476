import { describe, expect, it } from 'vitest'
import { forgejoRoutes } from '../../../src/http-adapters/routes/route-table.ts'
import { authenticate, openCase, openpgpKey, openWorld, sshKey } from '../../world.ts'
import type { Ask, Case } from '../cases/case.ts'
import { refusal, served } from '../cases/case.ts'
import { dispatched, pathTo, plainRequest } from '../dispatch.ts'
import { runCase } from '../run-case.ts'

const olga = (method: string, path: string): Ask => ['olga', method, path]
const ORG = '/orgs/acme'
const SIDES = [ORG, '/user']

const CASES: readonly Case[] = [
  ...SIDES.flatMap((side): readonly Case[] => [
    served(
      `${side}: the list has ids and times, oldest first, and a total but no links`,
      olga('GET', `${side}/list_blocked?limit=2`),
      200,
      {
        before: [
          olga('PUT', `${side}/block/rita`),
          olga('PUT', `${side}/block/stan`),
          olga('PUT', `${side}/block/ada`),
        ],
        expected: {
          json: [
            { block_id: 6, created_at: '2026-01-01T00:00:03Z' },
            { block_id: 7, created_at: '2026-01-01T00:00:04Z' },
          ],
          headers: { 'x-total-count': '3', link: null, 'access-control-expose-headers': 'X-Total-Count' },
        },
      },
    ),
    served(`${side}: a block is one of Gitea's path, without a note`, olga('GET', `${side}/blocks`), 200, {
      before: [olga('PUT', `${side}/block/Stan?note=${'n'.repeat(256)}`)],
      expected: { json: [{ id: 7, login: 'stan' }] },
    }),
    served(`${side}: who is blocked already is blocked once`, olga('GET', `${side}/list_blocked`), 200, {
      before: [olga('PUT', `${side}/blocks/stan`), olga('PUT', `${side}/block/stan`)],
      expected: { json: [{ block_id: 7, created_at: '2026-01-01T00:00:03Z' }] },
    }),
    served(`${side}: a block is lifted, and lifted again`, olga('GET', `${side}/list_blocked`), 200, {
      before: [
        olga('PUT', `${side}/block/stan`),
        olga('PUT', `${side}/unblock/stan`),
        olga('PUT', `${side}/unblock/stan`),
      ],
      expected: { json: [] },
    }),
    ...(['block', 'unblock'] as const).map((verb) =>
      refusal(`${side}: no ${verb} of an unknown user`, olga('PUT', `${side}/${verb}/nothing`), 404, 'USER_NOT_FOUND'),
    ),
    refusal(`${side}: oneself cannot be blocked`, olga('PUT', `${side}/block/olga`), 422, 'CANNOT_BLOCK_SELF'),
  ]),
  refusal('a member cannot be blocked', olga('PUT', `${ORG}/block/mia`), 422, 'CANNOT_BLOCK_MEMBER'),
  refusal('who is no owner of the organization is 403', ['stan', 'GET', `${ORG}/list_blocked`], 403, 'FORBIDDEN'),
  refusal('a hidden organization is 404', ['stan', 'PUT', '/orgs/hidden/block/rita'], 404, 'ORGANIZATION_NOT_FOUND'),
  served('the SSH key', ['anonymous', 'GET', '/signing-key.ssh'], 200, {
    world: { signingKey: sshKey },
    expected: {
      text: 'ssh-ed25519 AAAA demo\n',
      headers: { 'content-type': 'text/plain; charset=utf-8', etag: '"abc"' },
    },
  }),
  refusal('no SSH key', ['anonymous', 'GET', '/signing-key.ssh'], 404, 'NO_SIGNING_KEY'),
  refusal(
    'a key of the other format',
    ['anonymous', 'GET', '/signing-key.ssh'],
    404,
    { message: 'signing key format is openpgp' },
    { world: { signingKey: openpgpKey } },
  ),
  refusal('a method that Forgejo does not have', olga('DELETE', `${ORG}/block/stan`), 405, {
    code: 'METHOD_NOT_ALLOWED',
    headers: { allow: 'PUT, OPTIONS' },
  }),
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
