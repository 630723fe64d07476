import { expect, it } from 'vitest'
import { issueDocuments } from '../../../src/exchange/exchange.ts'
import { createApi } from '../../../src/http-adapters/http.ts'
import { routeTable } from '../../../src/http-adapters/routes/route-table.ts'
import { createForge } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import type { Person } from '../../world.ts'
import { directory, people, present, sshKey, worldIssues } from '../../world.ts'
import { plainRequest, readText } from '../dispatch.ts'

const SPECIFIED = [
  'GET /signing-key.gpg',
  'GET /repos/{owner}/{repo}/signing-key.gpg',
  'GET /signing-key.pub',
  'GET /repos/{owner}/{repo}/signing-key.pub',
  'POST /repos/{owner}/{repo}/issues/{index}/pin',
  'DELETE /repos/{owner}/{repo}/issues/{index}/pin',
  'PATCH /repos/{owner}/{repo}/issues/{index}/pin/{position}',
  'GET /repos/{owner}/{repo}/issues/pinned',
  'GET /repos/{owner}/{repo}/pulls/pinned',
  'GET /repos/{owner}/{repo}/new_pin_allowed',
  'GET /orgs/{org}/blocks',
  'GET /orgs/{org}/blocks/{username}',
  'PUT /orgs/{org}/blocks/{username}',
  'DELETE /orgs/{org}/blocks/{username}',
  'GET /admin/users/{username}/badges',
  'POST /admin/users/{username}/badges',
  'DELETE /admin/users/{username}/badges',
  'GET /repos/{owner}/{repo}/issues/export',
  'POST /repos/{owner}/{repo}/issues/import',
]

it('the route table is the specified interface, row by row', () => {
  expect(routeTable.map(({ method, path }) => `${method} ${path}`)).toEqual(SPECIFIED)
})

const NAMES = new Map(
  Object.entries({ owner: 'acme', repo: 'rocket', org: 'acme', username: 'stan', index: '1', position: '1' }),
)

it.each(routeTable.map((route) => [route.operationId, route] as const))(
  '%s asks the policy once, unless it is public',
  async (_id, route) => {
    const asked: string[] = []
    const forge = createForge<Person, undefined>({
      storage: memoryStorage(),
      policy: {
        authorize({ action }) {
          asked.push(action)
          return { allow: true }
        },
      },
      membership: { isMember: () => false },
      signingKey: sshKey,
      issues: worldIssues(),
    })
    const api = createApi(forge, { directory, present, documents: issueDocuments })
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_brace, name: string) => NAMES.get(name) ?? name)
    const body = route.service === 'badges' ? '{"badge_slugs":[]}' : '[]'
    const reply = await api.dispatch(plainRequest({ method: route.method, path, body }), () => people[0] ?? null)
    await readText(reply)

    expect(asked).toHaveLength(route.path.startsWith('/signing-key.') ? 0 : 1)
  },
)
