import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { issueDocuments } from '../../../src/exchange/exchange.ts'
import type { ApiOptions } from '../../../src/http-adapters/http.ts'
import { createApi } from '../../../src/http-adapters/http.ts'
import { serviceRoutes } from '../../../src/http-adapters/routes/route-table.ts'
import type { AccessRequest } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import { plainRequest, readText } from '../plain-request.ts'
import type { Person } from '../world.ts'
import { directory, openWorld, people, present } from '../world.ts'
import { worldIssues } from '../world-issues.ts'

const EXPORT = '/repos/acme/rocket/issues/export'
const IMPORT = '/repos/acme/rocket/issues/import'

/** A forge that writes down what its policy is asked. */
function asked(issues = worldIssues(() => true)): {
  readonly forge: ReturnType<typeof createForge<Person, undefined>>
  readonly requests: AccessRequest[]
} {
  const requests: AccessRequest[] = []
  const forge = createForge<Person, undefined>({
    storage: memoryStorage(),
    policy: {
      authorize(request) {
        requests.push(request)
        return { allow: true }
      },
    },
    membership: { isMember: () => false },
    issues,
  })
  return { forge, requests }
}

describe('the routes of the exchange', () => {
  it('are not there without documents, and their paths are passed on', async () => {
    const { api } = openWorld({ documents: undefined })

    expect(await api.dispatch(plainRequest({ path: EXPORT }), () => null)).toBeUndefined()
    expect(await api.dispatch(plainRequest({ method: 'POST', path: IMPORT }), () => null)).toBeUndefined()
    expect(Object.keys(api.openApi().paths)).not.toContain('/repos/{owner}/{repo}/issues/export')
  })

  it('are not there if the services leave them out', async () => {
    const { api } = openWorld({ services: ['pins'] })

    expect(await api.dispatch(plainRequest({ path: EXPORT }), () => null)).toBeUndefined()
  })

  it.each(['/repos/acme/rocket/issues', '/repos/acme/rocket/issues/7', '/repos/acme/rocket/issues/7/export'])(
    'leave %s to the host',
    async (path) => {
      expect(await openWorld().api.dispatch(plainRequest({ path }), () => null)).toBeUndefined()
    },
  )

  it.each<[string, Partial<ApiOptions<Person>>, string]>([
    ['the service without documents', { services: ['exchange'] }, 'createApi needs documents'],
    [
      'documents that cannot read',
      { documents: { write: issueDocuments.write } as never },
      'createApi needs documents',
    ],
  ])('are refused with %s', (_what, options, message) => {
    expect(() => createApi(asked().forge, { directory, present, ...options })).toThrow(message)
  })

  it('are refused if the forge has no issues', () => {
    const forge = createForge<Person, undefined>({
      storage: memoryStorage(),
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
    })

    expect(() => createApi(forge, { directory, present, documents: issueDocuments })).toThrow('needs issues')
    expect(() => createApi(forge, { directory, present })).not.toThrow()
  })

  it.each([
    ['GET', EXPORT, '', ['issues.export']],
    ['POST', IMPORT, '', ['issues.import']],
    ['POST', IMPORT, 'attribution=names', ['issues.import']],
    ['POST', IMPORT, 'attribution=accounts', ['issues.import', 'issues.attribute']],
  ])('ask the policy once for each action: %s %s?%s', async (method, path, query, actions) => {
    const { forge, requests } = asked()
    const api = createApi(forge, { directory, present, documents: issueDocuments })
    const [root = null] = people
    const reply = await api.dispatch(plainRequest({ method, path, query, body: '[]' }), () => root)

    expect(await readText(reply)).not.toContain('"code"')
    expect(requests).toEqual(actions.map((action) => ({ action, repositoryId: '1' })))
  })

  it('describe an issue as its published schema does', () => {
    const published = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../schema/issue.json'), 'utf8'))
    const described = serviceRoutes.exchange.schemas['IssueRecord']

    expect(Object.keys(described?.properties ?? {})).toEqual(Object.keys(published.items.properties))
    expect(described?.required).toEqual(published.items.required)
  })

  it('state their limit', () => {
    const { api } = openWorld({ limits: { maxImportBytes: 4321 } })
    const operation = api.openApi().paths['/repos/{owner}/{repo}/issues/import']?.['post']

    expect(JSON.stringify(operation?.requestBody)).toContain('at most 4321 bytes')
  })
})
