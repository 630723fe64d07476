import { AsyncLocalStorage } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import type { FetchMountOptions } from '../../../src/http-adapters/fetch.ts'
import { fetchHandler } from '../../../src/http-adapters/fetch.ts'
import { deferred } from '../../deferred.ts'
import type { Person, World } from '../../world.ts'
import { authenticate, openWorld, sshKey } from '../../world.ts'
import { streamed, streamingWorld } from '../streams/streaming-world.ts'

const PINNED = 'https://git.example.com/api/repos/acme/rocket/issues/pinned'
const BADGES = 'https://git.example.com/api/admin/users/stan/badges'
const ROOT = { authorization: 'token root' }

type Options = FetchMountOptions<Person, Request, readonly unknown[]>

function mounted(world: World, options: Partial<Options> = {}): ReturnType<typeof fetchHandler<Person>> {
  return fetchHandler<Person>(world.api, {
    authenticate: ({ headers }) => authenticate(headers.get('authorization') ?? undefined),
    basePath: '/api',
    ...options,
  })
}

it('a response is no promise if the ports and the storage are synchronous, and a promise otherwise', async () => {
  const world = openWorld()

  expect(mounted(world)(new Request(PINNED))).toBeInstanceOf(Response)
  expect(mounted(world).match(new Request(PINNED))).toBeInstanceOf(Response)
  expect(mounted(world, { authenticate: async () => null })(new Request(PINNED))).toBeInstanceOf(Promise)
})

describe('a path', () => {
  it('at the root needs no base path, and has no fragment', async () => {
    const handle = mounted(openWorld(), { basePath: undefined })
    const path = '/repos/acme/rocket/issues/pinned#pinned'

    expect((await handle(new Request(`https://git.example.com${path}`))).status).toBe(200)
  })
})

describe('authenticate', () => {
  it('gets the request and whatever the runtime hands in behind it', async () => {
    const asked = vi.fn((_request: Request, _environment: object, _context: object) => null)
    const handle = fetchHandler(openWorld().api, { authenticate: asked, basePath: '/api' })
    const request = new Request(PINNED)
    const environment = { database: 'd1' }
    const context = { waitUntil: () => undefined }
    await handle(request, environment, context)

    expect(asked).toHaveBeenCalledExactlyOnceWith(request, environment, context)
  })
})

describe('a body', () => {
  it('beyond the limit is refused by what it says of itself, unread', async () => {
    const request = new Request(BADGES, {
      method: 'POST',
      body: 'x',
      headers: { ...ROOT, 'content-length': '1048577' },
    })

    expect(await (await mounted(openWorld())(request)).json()).toMatchObject({ code: 'BODY_TOO_LARGE' })
    expect(request.bodyUsed).toBe(false)
  })

  it('beyond the limit is refused as soon as it is, and the rest is taken in and dropped up to 64 MiB', async () => {
    let given = 0
    const refused = deferred()
    const cancelled = deferred()
    const body = new ReadableStream(
      {
        async pull(controller) {
          given += 1
          if (given > 2) await refused.promise
          controller.enqueue(new Uint8Array(600_000))
        },
        cancel: () => cancelled.resolve(),
      },
      { highWaterMark: 0 },
    )
    const request = new Request(BADGES, { method: 'POST', body, duplex: 'half', headers: ROOT })

    expect(await (await mounted(openWorld())(request)).json()).toMatchObject({ code: 'BODY_TOO_LARGE' })
    refused.resolve()
    await cancelled.promise
    expect(given).toBe(2 + Math.ceil((67_108_864 + 1) / 600_000))
  })

  it('that the host has already read is 500, and the log names the fix', async () => {
    const world = openWorld()
    const request = new Request(BADGES, { method: 'POST', body: '{"badge_slugs":[]}', headers: ROOT })
    await request.text()
    const response = await mounted(world)(request)

    expect(response.status).toBe(500)
    expect(world.logged).toMatchObject([{ fields: { error: { message: expect.stringContaining('clone') } } }])
  })
})

describe('a request', () => {
  it('of a page of the same address is not another site, though the runtime hides the Host header', async () => {
    const handle = mounted(openWorld({}), { authenticate: () => ({ id: 4, name: 'ada' }) })
    const pin = async (origin: string): Promise<Response> =>
      handle(
        new Request('https://git.example.com/api/repos/acme/rocket/issues/1/pin', {
          method: 'POST',
          headers: { origin },
        }),
      )

    expect((await pin('https://git.example.com')).status).toBe(204)
    expect((await pin('https://evil.example.com')).status).toBe(403)
  })
})

describe('an export', () => {
  const EXPORT = 'https://git.example.com/api/repos/acme/rocket/issues/export'

  it('whose response is dropped unread makes room when that is garbage, and one of HEAD at once', async () => {
    const handle = mounted(openWorld({ limits: { maxExports: 1 } }))
    const statusOf = async (): Promise<number> => {
      const response = await handle(new Request(EXPORT))
      await response.text()
      return response.status
    }
    expect((await handle(new Request(EXPORT, { method: 'HEAD' }))).status).toBe(200)
    await expect.poll(statusOf).toBe(200)
    const kept = await handle(new Request(EXPORT))
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    collect()
    await new Promise(setImmediate)
    expect(await statusOf()).toBe(503)
    expect(JSON.parse(await kept.text())).toHaveLength(5)

    await handle(new Request(EXPORT)) // and drops it
    expect(await statusOf()).toBe(503)
    await expect
      .poll(() => {
        collect()
        return statusOf()
      })
      .toBe(200)
  })
})

describe('a reply', () => {
  it('that is streamed is produced in the asynchronous context of its request', async () => {
    const context = new AsyncLocalStorage<string>()
    const found: unknown[] = []
    async function* bytes(): AsyncGenerator<Uint8Array, void, void> {
      for (const text of ['one ', 'two ', 'three']) {
        found.push(context.getStore())
        yield new TextEncoder().encode(text)
      }
    }
    const handle = fetchHandler(streamingWorld(() => streamed(bytes())).api, { authenticate: () => null })
    const response = await context.run('of the request', async () =>
      handle(new Request('https://git.example.com/streams')),
    )

    expect(await context.run('of the reader', () => response.text())).toBe('one two three')
    expect(found).toEqual(['of the request', 'of the request', 'of the request'])
  })

  it('that HTTP does not allow is 500, and logged', async () => {
    const world = openWorld({
      signingKey: { ...sshKey, publicKey: () => ({ format: 'ssh', text: 'ssh-ed25519 AAAA\n', etag: 'a\nb' }) },
    })
    const response = await mounted(world)(new Request('https://git.example.com/api/signing-key.pub'))

    expect(response.status).toBe(500)
    expect(world.logged).toHaveLength(1)
  })
})
