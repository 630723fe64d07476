import { describe, expect, it, vi } from 'vitest'
import type { ObservedRequest } from '../../../src/http-adapters/http.ts'
import type { ApiRequest } from '../../../src/http-adapters/routes/messages.ts'
import type { WorldOptions } from '../../world.ts'
import { authenticate, openWorld, unreadableKey } from '../../world.ts'
import { plainRequest } from '../dispatch.ts'

const NO_ERROR = { code: undefined, requestId: undefined, aborted: false }
const NO_OPERATION = { operationId: undefined, service: undefined }
const PINNED = '/repos/{owner}/{repo}/issues/pinned'

function request(method: string, path: string, more: Partial<ApiRequest> = {}): ApiRequest {
  return { ...plainRequest({ method, path }), ...more }
}

/** What an observer receives for one request. */
async function observed(sent: ApiRequest, who = 'root', options: WorldOptions = {}): Promise<ObservedRequest[]> {
  const reported: ObservedRequest[] = []
  const { api } = openWorld({ observer: { request: (seen) => reported.push(seen) }, ...options })
  const reply = await api.dispatch(sent, () => authenticate(`token ${who}`))
  if (reply === undefined) api.unmatched(sent)
  return reported
}

describe.each([
  ['at once', {}],
  ['later', { later: true }],
] as const)('a request that is answered %s', (_when, options) => {
  it('is reported once, with its operation', async () => {
    expect(await observed(request('GET', '/repos/acme/rocket/issues/pinned'), 'root', options)).toEqual([
      {
        method: 'GET',
        path: PINNED,
        operationId: 'repoListPinnedIssues',
        service: 'pins',
        status: 200,
        milliseconds: expect.any(Number),
        ...NO_ERROR,
      },
    ])
  })

  it('is reported with its error', async () => {
    expect(await observed(request('POST', '/repos/acme/nosuch/issues/1/pin'), 'root', options)).toMatchObject([
      { path: '/repos/{owner}/{repo}/issues/{index}/pin', service: 'pins', status: 404, code: 'REPOSITORY_NOT_FOUND' },
    ])
  })

  it('is reported with its requestId if it failed', async () => {
    const signingKey = unreadableKey
    expect(await observed(request('GET', '/signing-key.pub'), 'root', { ...options, signingKey })).toMatchObject([
      { status: 500, code: 'INTERNAL', requestId: 'request-1', aborted: false },
    ])
  })
})

describe('a request', () => {
  it.each([
    ['PUT', '/repos/acme/rocket/issues/pinned', PINNED, 405, 'METHOD_NOT_ALLOWED'],
    ['OPTIONS', '/repos/acme/rocket/issues/pinned', PINNED, 204, undefined],
    ['GET', '/repos/%/rocket/issues/pinned', PINNED, 404, 'ROUTE_NOT_FOUND'],
    ['GET', '/repos/acme/rocket/branches', undefined, 404, 'ROUTE_NOT_FOUND'],
  ])('without an operation is reported, with the path if it is ours: %s %s', async (method, path, ...expected) => {
    const [template, status, code] = expected

    expect(await observed(request(method, path))).toMatchObject([
      { method, path: template, status, code, ...NO_OPERATION },
    ])
  })

  it('that the host continues to use is not reported', () => {
    const observe = vi.fn()

    expect(
      openWorld({ observer: { request: observe } }).api.dispatch(request('GET', '/elsewhere'), () => null),
    ).toBeUndefined()
    expect(observe).not.toHaveBeenCalled()
  })

  it('of an unknown method is reported as another', async () => {
    expect(await observed(request('BREW', '/signing-key.pub'))).toMatchObject([{ method: '_OTHER', status: 405 }])
  })

  it('that its client aborted is reported as such', async () => {
    const { signal, reason } = aborted()
    const directory = { findAccount: () => undefined, findRepository: () => thrown(reason), findIssue: () => undefined }

    expect(
      await observed(request('GET', '/repos/acme/rocket/issues/pinned', { signal }), 'root', { directory }),
    ).toMatchObject([{ status: 500, requestId: 'request-1', aborted: true }])
  })

  it('is reported without anything that the client invented', async () => {
    const sent = [
      request('PUT', '/orgs/sesame/blocks/sesame', { query: 'note=sesame' }),
      request('GET', '/sesame/%'),
      request('SESAME', '/orgs/sesame/blocks'),
      request('GET', '/orgs/%73esame%/blocks'),
    ]
    const reported = await Promise.all(sent.map((one) => observed(one)))

    expect(reported.flat()).toHaveLength(4)
    expect(JSON.stringify(reported)).not.toMatch(/sesame/i)
  })

  it('takes as long as the ports of the host', async () => {
    const findRepository = () => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 30))
    const directory = { findAccount: () => undefined, findRepository, findIssue: () => undefined }
    const [reported] = await observed(request('GET', '/repos/acme/rocket/issues/pinned'), 'root', { directory })

    expect(reported?.milliseconds).toBeGreaterThan(25)
    expect(reported?.milliseconds).toBeLessThan(5000)
  })
})

it('an observer that fails changes no answer, and is warned of once', async () => {
  const { api, logged } = openWorld({ observer: { request: () => thrown(new Error('no metrics')) } })
  const asked = request('GET', '/repos/acme/rocket/issues/pinned')
  const replies = [await api.dispatch(asked, () => null), api.unmatched(asked), await api.dispatch(asked, () => null)]

  expect(replies.map((reply) => reply?.status)).toEqual([200, 404, 200])
  expect(logged).toMatchObject([{ level: 'warn', message: expect.stringContaining('the observer failed') }])
})

it.each<[clocks: string, options: WorldOptions, readings: number]>([
  ['no clock is read without an observer', {}, 0],
  ['a clock is read before and after the answer for an observer', { observer: { request: () => undefined } }, 2],
])('%s', (_clocks, options, readings) => {
  const { api } = openWorld(options)
  const now = vi.spyOn(performance, 'now')
  api.dispatch(request('GET', '/repos/acme/rocket/issues/pinned'), () => null)
  const read = now.mock.calls.length
  now.mockRestore()

  expect(read).toBe(readings)
})

function aborted(): { readonly signal: AbortSignal; readonly reason: unknown } {
  const controller = new AbortController()
  controller.abort()
  return { signal: controller.signal, reason: controller.signal.reason }
}

function thrown(error: unknown): never {
  throw error
}
