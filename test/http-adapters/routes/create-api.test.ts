import { describe, expect, it, vi } from 'vitest'
import type { ApiRequest, ApiResponse } from '../../../src/http-adapters/http.ts'
import { ForgeError } from '../../../src/index.ts'
import type { Person } from '../../world.ts'
import { directory, openWorld, people, present, unreadableKey } from '../../world.ts'
import { plainRequest } from '../dispatch.ts'

function request(method: string, path: string): ApiRequest {
  return plainRequest({ method, path })
}

const asRoot = (): Person | null => people[0] ?? null

/** The headers of a request that another site sends. */
function fromElsewhere(name: string): string | undefined {
  return name === 'sec-fetch-site' ? 'cross-site' : undefined
}

describe('createApi', () => {
  it.each([
    ['a publicUrl that is not a URL', { publicUrl: 'git.example.com' }],
    ['a publicUrl with a query', { publicUrl: 'https://git.example.com/?a' }],
    ['a publicUrl with a fragment', { publicUrl: 'https://git.example.com/#a' }],
    ['a publicUrl with credentials', { publicUrl: 'https://a:b@git.example.com/' }],
    ['a docsUrl of another scheme', { docsUrl: 'javascript:alert(1)' }],
    ['a docsUrl with credentials', { docsUrl: 'https://git:x@git/api/swagger' }],
    ['an unknown kind of credentials', { credentials: 'cookie' }],
    ['an unknown service', { services: ['pins', 'wiki'] }],
    ['invalid limits', { limits: null }],
  ])('refuses %s', (_what, options) => {
    expect(() => openWorld(options as never)).toThrow(TypeError)
  })
})

describe('docsUrl', () => {
  const docsUrl = 'https://git.example.com/api/swagger#/pins'
  const { api } = openWorld({ docsUrl, signingKey: unreadableKey })

  it.each([
    ['GET', '/orgs/acme/blocks/stan', 404],
    ['POST', '/repos/acme/rocket/issues/pinned', 405],
    ['GET', '/signing-key.pub', 500],
  ])('is named by the error that answers %s %s', async (method, path, status) => {
    const reply = await api.dispatch(request(method, path), asRoot)

    expect([reply?.status, JSON.parse(String(reply?.body))]).toMatchObject([status, { url: docsUrl }])
  })

  it('is named by the errors that an adapter asks for, and followed by their code if it ends in #', () => {
    const { unmatched, failed } = openWorld({ docsUrl: 'https://docs.example.com/reference/errors#' }).api
    const replies = [api.unmatched(request('GET', '/')), api.failed(request('GET', '/'), new Error('no'))]
    const coded = [unmatched(request('GET', '/')), failed(request('GET', '/'), new Error('no'))]

    expect(replies.map(({ body }) => JSON.parse(body ?? '').url)).toEqual([docsUrl, docsUrl])
    expect(coded.map(({ body }) => JSON.parse(body ?? '').url)).toEqual(
      ['route_not_found', 'internal'].map((code) => `https://docs.example.com/reference/errors#${code}`),
    )
  })
})

const INVALID = 'Bearer error="invalid_token"'

function schemesOf(reply: ApiResponse | undefined): readonly string[] {
  return (reply?.headers ?? []).filter(([name]) => name === 'WWW-Authenticate').map(([, scheme]) => scheme)
}

describe('credentials', () => {
  it.each([
    [undefined, ['token is required', ['Bearer']], ['invalid username, password or token', [INVALID]]],
    ['token', ['token is required', ['Bearer']], ['invalid username, password or token', [INVALID]]],
    ['session', ['authentication is required', []], ['invalid credentials', []]],
  ] as const)('of the kind %s make a 401 say %j and %j', async (credentials, missing, wrong) => {
    const { api } = openWorld({ credentials })
    const refuse = (): never => {
      throw new ForgeError('INVALID_CREDENTIALS', 'the session 7f3a has expired')
    }
    const asked = request('GET', '/admin/users/stan/badges')
    const replies = [await api.dispatch(asked, () => null), await api.dispatch(asked, refuse)]

    expect(replies.map((reply) => [reply?.status, JSON.parse(String(reply?.body)).message, schemesOf(reply)])).toEqual([
      [401, ...missing],
      [401, ...wrong],
    ])
  })

  it('are in the OpenAPI document', () => {
    const schemeIn = (api: ReturnType<typeof openWorld>['api']) => JSON.stringify(api.openApi()).includes('WWW-Auth')

    expect([schemeIn(openWorld().api), schemeIn(openWorld({ credentials: 'session' }).api)]).toEqual([true, false])
  })
})

describe('dispatch', () => {
  it.each([
    ['GET', '/repos/acme/rocket/branches'],
    ['GET', '/repos/acme/%/issues/pinned'],
    ['POST', '/repos/acme/rocket/issues/pinned'],
    ['OPTIONS', '/repos/acme/rocket/issues/pinned'],
    ['POST', '/repos/acme/rocket/issues/1/pin'],
  ])('does not ask who calls for %s %s of another site', async (method, path) => {
    const asked = vi.fn(() => null)
    await openWorld().api.dispatch({ ...request(method, path), header: fromElsewhere }, asked)

    expect(asked).not.toHaveBeenCalled()
  })

  it('asks the presenter once for a list, and not for an empty one', async () => {
    const asked: (readonly string[])[] = []
    const { api, forge } = openWorld({
      present: {
        ...present,
        issues: (ids) => {
          asked.push(ids)
          return ids.map((id) => ({ id }))
        },
      },
    })
    await api.dispatch(request('GET', '/repos/acme/rocket/issues/pinned'), () => null)
    for (const id of [101, 102]) await forge.pins.pin('system', { id, repositoryId: 1, kind: 'issue' })
    await api.dispatch(request('GET', '/repos/acme/rocket/issues/pinned'), () => null)

    expect(asked).toEqual([['101', '102']])
  })

  it.each([
    [1, 204],
    [1n, 204],
    ['1', 204],
    [2, 500],
    [undefined, 500],
  ])(
    'answers for an issue of the repository %o, where the policy was asked about 1, with %i',
    async (repositoryId, status) => {
      const { api, forge, logged } = openWorld({
        // What a host in JavaScript may give.
        directory: { ...directory, findIssue: () => ({ id: 101, repositoryId, kind: 'issue' }) as never },
      })
      const reply = await api.dispatch(request('POST', '/repos/acme/rocket/issues/1/pin'), asRoot)
      const boards = [1, 2].map((id) => forge.pins.list('system', { repositoryId: id, kind: 'issue' }))

      expect(reply).toMatchObject({ status })
      expect((await Promise.all(boards)).flat()).toHaveLength(status === 204 ? 1 : 0)
      expect(logged).toMatchObject(status === 204 ? [] : [{ fields: { error: expect.any(TypeError) } }])
    },
  )

  it.each([
    ['GET', '/orgs/nosuch/blocks'],
    ['GET', '/orgs/acme/blocks/nosuch'],
    ['PUT', '/orgs/acme/blocks/nosuch'],
    ['GET', '/admin/users/nosuch/badges'],
    ['GET', '/repos/acme/nosuch/issues/pinned'],
    ['POST', '/repos/acme/nosuch/issues/1/pin'],
    ['POST', '/repos/acme/rocket/issues/77/pin'],
  ])('answers %s %s with 404 where the directory gives null', async (method, path) => {
    // What mappers of databases give to a host in JavaScript.
    const orNull = (found: unknown): never => (found ?? null) as never
    const { api } = openWorld({
      directory: {
        findAccount: (...asked) => orNull(directory.findAccount(...asked)),
        findRepository: (...asked) => orNull(directory.findRepository(...asked)),
        findIssue: (...asked) => orNull(directory.findIssue(...asked)),
      },
    })

    expect(await api.dispatch(request(method, path), asRoot)).toMatchObject({ status: 404 })
  })

  /** A list of two pins, as the presenter of issues shows them. */
  async function listed(shown: unknown): Promise<ApiResponse | undefined> {
    const issues = () => shown as readonly object[] // what a host in JavaScript may give
    const { api, forge } = openWorld({ present: { ...present, issues } })
    for (const id of [101, 102]) await forge.pins.pin('system', { id, repositoryId: 1, kind: 'issue' })
    return api.dispatch(request('GET', '/repos/acme/rocket/issues/pinned'), asRoot)
  }

  it('shows in a list what toJSON of an object says, as JSON.stringify does', async () => {
    class Entity {
      readonly #secret = 'hidden'
      readonly login: string
      readonly email = 'private@example.com'
      readonly at = new Date(0)
      constructor(login: string) {
        this.login = login
      }
      toJSON(): object {
        return { login: this.login, isHidden: this.#secret === 'hidden', at: this.at, self: undefined }
      }
    }
    const own = { login: 'own', email: 'private@example.com', toJSON: () => ({ login: 'own' }) }
    const reply = await listed([new Entity('class'), own])

    expect(reply?.body).not.toContain('private@example.com')
    expect(JSON.parse(String(reply?.body))).toEqual([
      { login: 'class', isHidden: true, at: '1970-01-01T00:00:00.000Z', pin_order: 1 },
      { login: 'own', pin_order: 2 },
    ])
  })

  it('asks for toJSON once, and leaves out what it says is nothing', async () => {
    const outer = { secret: 1, toJSON: () => ({ login: 'x', toJSON: () => ({ login: 'never' }) }) }
    for (const nothing of [null, { toJSON: () => null }, { toJSON: () => undefined }]) {
      const shown = JSON.parse(String((await listed([nothing, outer]))?.body))

      expect(shown).toEqual([{ login: 'x', pin_order: 2 }])
    }
  })

  const odd = [
    ...[Promise.resolve({ login: 'x' }), 'x', 5, [{}], () => ({})],
    ...['x', 5, [{}], true].map((json) => ({ toJSON: () => json })),
  ]
  it.each(
    [[], [{}], [{}, {}, {}], 'ab', null, { length: 2 }, ...odd.map((one) => [{ login: 'x' }, one])].map((one) => [one]),
  )('answers 500 when the presenter gives %o', async (shown) => {
    expect(await listed(shown)).toMatchObject({ status: 500 })
  })

  it.each([
    { id: 7 },
    { kind: 'User', id: 7 },
    { kind: 'org', id: 7 },
    { kind: 'organization' },
    'stan',
    false,
    [{ kind: 'user', id: 7 }],
  ])('answers 500 where the directory finds the account %j', async (account) => {
    const findAccount = () => account as never // what a host in JavaScript may give
    for (const path of ['/orgs/acme/blocks', '/admin/users/stan/badges']) {
      const { api, logged } = openWorld({ directory: { ...directory, findAccount } })

      expect(await api.dispatch(request('GET', path), asRoot)).toMatchObject({ status: 500 })
      expect(logged).toMatchObject([{ fields: { error: expect.any(TypeError) } }])
    }
  })

  it.each([
    ['text', { format: 'ssh', text: undefined, etag: '"1"' }],
    ['text', { format: 'ssh', text: '', etag: '"1"' }],
    ['text', { format: 'ssh', text: Buffer.from('ssh-ed25519 AAAA'), etag: '"1"' }],
    ['etag', { format: 'ssh', text: 'ssh-ed25519 AAAA', etag: undefined }],
    ['format', { format: 'SSH', text: 'ssh-ed25519 AAAA', etag: '"1"' }],
    ['format', undefined],
    ['format', null],
    ['format', 'ssh-ed25519 AAAA'],
  ])('answers 500 where the %s of a signing key is malformed', async (name, key) => {
    const { api, logged } = openWorld({ signingKey: { format: 'ssh', publicKey: () => key as never } })

    expect(await api.dispatch(request('GET', '/signing-key.pub'), () => null)).toMatchObject({ status: 500 })
    expect(logged).toMatchObject([{ fields: { error: { name: 'TypeError', message: expect.stringContaining(name) } } }])
  })

  it.each([
    ['Refuse', 403],
    ['', 403],
    [null, 403],
    ['refuse', 403],
    [undefined, 403],
    ['allow', 204],
  ])('answers a change from another site where crossSite is %j with %i', async (crossSite, status) => {
    const asked: ApiRequest = { ...request('POST', '/repos/acme/rocket/issues/1/pin'), header: fromElsewhere }
    const options = { crossSite: crossSite as 'allow' }

    expect(await openWorld().api.dispatch(asked, asRoot, options)).toMatchObject({ status })
  })

  it.each([{}, { id: undefined }, { id: null }, { id: '' }, { id: 1.5 }, [], 'system', 'anonymous', '', false, 0, 7])(
    'admits no one as %j, not even to read',
    async (actor) => {
      const { api, logged } = openWorld()
      // What a host in JavaScript may give.
      const reply = await api.dispatch(request('GET', '/repos/acme/rocket/issues/pinned'), () => actor as never)

      expect(reply).toMatchObject({ status: 500 })
      expect(logged).toMatchObject([{ fields: { error: expect.any(TypeError) } }])
    },
  )

  it.each([
    ['note=a+b%2Bc', 'a b+c'],
    ['note=caf%C3%A9=1', 'caf\u00e9=1'],
    ['note=', ''],
    ['note', ''],
    ['page=1&n%6Fte=first&note=second', 'first'],
    ['', ''],
  ])('keeps of ?%s the note %j', async (query, note) => {
    const { api, forge } = openWorld()
    await api.dispatch({ ...request('PUT', '/orgs/acme/blocks/stan'), query }, asRoot)

    expect(await forge.blocks.find('system', { organizationId: 6, userId: 7 })).toMatchObject({ note })
  })

  it.each(['/repos/a%00b/rocket/issues/pinned', '/repos/acme/a%0Ab/issues/pinned', '/orgs/%7F/blocks'])(
    'does not ask the host about the name in %s',
    async (path) => {
      const refuse = (): never => {
        throw new Error('asked')
      }
      const { api } = openWorld({ directory: { findAccount: refuse, findRepository: refuse, findIssue: refuse } })

      expect(await api.dispatch(request('GET', path), () => null)).toMatchObject({ status: 404 })
    },
  )
})
