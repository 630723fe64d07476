import { expect, it } from 'vitest'
import { issueDocuments } from '../../../src/exchange/exchange.ts'
import { createApi } from '../../../src/http-adapters/http.ts'
import { routeTable } from '../../../src/http-adapters/routes/route-table.ts'
import type { Action } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import type { Person } from '../../world.ts'
import { directory, people, present, sshKey, worldIssues } from '../../world.ts'
import { plainRequest, readText } from '../dispatch.ts'

/** The routes, and what each asks the policy once. */
const SPECIFIED: Readonly<Record<string, readonly Action[]>> = {
  'GET /signing-key.gpg': [],
  'GET /repos/{owner}/{repo}/signing-key.gpg': ['signing-keys.read'],
  'GET /signing-key.pub': [],
  'GET /repos/{owner}/{repo}/signing-key.pub': ['signing-keys.read'],
  'POST /repos/{owner}/{repo}/issues/{index}/pin': ['pins.write'],
  'DELETE /repos/{owner}/{repo}/issues/{index}/pin': ['pins.write'],
  'PATCH /repos/{owner}/{repo}/issues/{index}/pin/{position}': ['pins.write'],
  'GET /repos/{owner}/{repo}/issues/pinned': ['pins.read'],
  'GET /repos/{owner}/{repo}/pulls/pinned': ['pins.read'],
  'GET /repos/{owner}/{repo}/new_pin_allowed': ['pins.read'],
  'GET /orgs/{org}/blocks': ['blocks.read'],
  'GET /orgs/{org}/blocks/{username}': ['blocks.read'],
  'PUT /orgs/{org}/blocks/{username}': ['blocks.write'],
  'DELETE /orgs/{org}/blocks/{username}': ['blocks.write'],
  'GET /admin/users/{username}/badges': ['badges.read'],
  'POST /admin/users/{username}/badges': ['badges.grant'],
  'DELETE /admin/users/{username}/badges': ['badges.grant'],
  'GET /repos/{owner}/{repo}/issues/export': ['issues.export'],
  'POST /repos/{owner}/{repo}/issues/import': ['issues.import'],
}

it('the route table is the specified interface, row by row', () => {
  expect(routeTable.map(({ method, path }) => `${method} ${path}`)).toEqual(Object.keys(SPECIFIED))
})

const NAMES = new Map(
  Object.entries({ owner: 'acme', repo: 'rocket', org: 'acme', username: 'stan', index: '1', position: '1' }),
)

it.each(routeTable.map((route) => [route.operationId, route] as const))(
  '%s asks the policy once for its action, unless it is public',
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

    expect(asked).toEqual(SPECIFIED[`${route.method} ${route.path}`])
  },
)
