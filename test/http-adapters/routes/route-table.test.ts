import { describe, expect, it } from 'vitest'
import { routeTable, serviceRoutes } from '../../../src/http-adapters/routes/route-table.ts'
import { Router } from '../../../src/http-adapters/routes/router.ts'
import { cases } from '../cases.ts'

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

describe('the route table', () => {
  it('is the specified interface, row by row', () => {
    expect(routeTable.map(({ method, path }) => `${method} ${path}`)).toEqual(SPECIFIED)
  })

  it.each(Object.entries(serviceRoutes))('has routes of %s that name their service', (service, { routes }) => {
    expect(routes.filter((row) => row.service !== service)).toEqual([])
  })

  it('has no two services that define a schema of one name', () => {
    const names = Object.values(serviceRoutes).flatMap(({ schemas }) => Object.keys(schemas))

    expect(new Set(names).size).toBe(names.length)
  })

  it.each(Object.entries(serviceRoutes))('has a wire case for every route of %s', (_service, { routes }) => {
    const asked = Object.values(cases).flatMap((list) =>
      list.map(({ ask: [, method, path] }) => operationOf(method, path)),
    )

    expect(routes.map(({ operationId }) => operationId).filter((id) => !asked.includes(id))).toEqual([])
  })

  it.each(routeTable.map((row) => [row.operationId, row] as const))(
    '%s takes every parameter of its path once',
    (_id, row) => {
      const inPath = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const taken = Object.values(row.inputs).flatMap((input) => input.parameters.filter((one) => one.in === 'path'))

      expect(taken.map((one) => one.name)).toEqual(inPath)
    },
  )

  it.each(routeTable.map((row) => [row.operationId, row] as const))(
    '%s asks the policy once, unless it is public',
    (_id, row) => {
      const asking = Object.values(row.inputs).filter((input) => input.action !== undefined)

      expect(asking).toHaveLength(row.path.startsWith('/signing-key.') ? 0 : 1)
    },
  )
})

const router = new Router(routeTable)

/** Returns the operation that a request of a case calls. */
function operationOf(method: string, target: string): string | undefined {
  const match = router.match(method, target.replace(/\?.*/, ''))
  return match?.kind === 'route' ? match.route.operationId : undefined
}
