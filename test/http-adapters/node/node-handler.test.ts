import type { IncomingMessage } from 'node:http'
import { ServerResponse } from 'node:http'
import { createGzip } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import type { SigningKeySource } from '../../../src/index.ts'
import { ask, dial, exchange, serve, statuses } from '../../http.ts'
import { openWorld, sshKey } from '../../world.ts'
import { Pieces, streamed, streamingWorld } from '../streams/streaming-world.ts'
import { goodbye, mounted } from './mounted.ts'

const CLOSE = { Connection: 'close' }
const ADA = { Authorization: 'token ada' }
const ROOT = { Authorization: 'token root' }
const BADGES = '/api/admin/users/stan/badges'

describe('a reply', () => {
  it('without content has no content headers, whatever the host set', async () => {
    const handler = mounted(openWorld({ signingKey: sshKey }))
    const port = await serve((request, response) => {
      response.setHeader('Content-Type', 'text/html')
      handler(request, response)
    })
    const pinned = await exchange(port, ask('POST /api/repos/acme/rocket/issues/1/pin', { ...CLOSE, ...ADA }))
    const seen = await exchange(port, ask('GET /api/signing-key.pub', { ...CLOSE, 'If-None-Match': '"abc"' }))

    expect(statuses(pinned + seen)).toEqual([204, 304])
    expect(pinned + seen).not.toMatch(/^content-(type|length):/im)
  })

  it('adds to the headers that the host lets other sites read', async () => {
    const handler = mounted(openWorld())
    const port = await serve((request, response) => {
      response.setHeader('Access-Control-Expose-Headers', ['X-Request-Id', 'X-Trace'])
      handler(request, response)
    })
    const text = await exchange(port, ask('GET /api/repos/acme/rocket/issues/pinned', CLOSE))

    expect(text).toContain('\r\nAccess-Control-Expose-Headers: X-Request-Id, X-Trace, X-Total-Count\r\n')
  })

  it('with a header that cannot be sent is a 500', async () => {
    const signingKey: SigningKeySource = {
      ...sshKey,
      publicKey: () => ({ format: 'ssh', text: 'ssh', etag: '"a\nb"' }),
    }
    const world = openWorld({ signingKey })
    const port = await serve(mounted(world))
    const text = await exchange(port, ask('GET /api/signing-key.pub'), goodbye)

    expect(statuses(text)).toEqual([500, 200])
    expect(text).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\n/)
    expect(world.logged).toHaveLength(1)
  })

  it('that is streamed and compressed by middleware waits for its stream with one listener', async () => {
    const gzip = createGzip()
    const handler = nodeHandler(streamingWorld(() => streamed(new Pieces(30))).api, { authenticate: () => null })
    const port = await serve((request, response) => {
      const [write, on] = [response.write.bind(response), response.on.bind(response)]
      gzip.on('data', (bytes) => write(bytes) || gzip.pause()).on('end', () => response.socket?.end())
      on('drain', () => gzip.resume())
      // As the package compression does.
      Object.assign(response, {
        write: (bytes: Uint8Array) => gzip.write(bytes),
        end: () => gzip.end(),
        on: (event: string, then: () => void) => (event === 'drain' ? gzip : { on }).on(event, then),
      })
      void handler(request, response)
    })
    const before = gzip.listenerCount('drain')
    await exchange(port, ask('GET /streams', CLOSE))

    expect(gzip.listenerCount('drain') - before).toBe(1)
  })

  it('whose end fails behind its head closes the connection', async () => {
    const world = openWorld({ signingKey: sshKey })
    const handler = mounted(world)
    class FailingResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
      override end(): this {
        throw new Error('the end of this class fails')
      }
    }
    const port = await serve(handler, { ServerResponse: FailingResponse })

    expect(await exchange(port, ask('GET /api/signing-key.pub'))).toBe('')
    expect(world.logged).toHaveLength(1)
  })

  it('has its length in bytes', async () => {
    const text = 'ssh-ed25519 AAAA \u00e9\u{1f511}\n'
    const signingKey: SigningKeySource = { ...sshKey, publicKey: () => ({ format: 'ssh', text, etag: '"abc"' }) }
    const port = await serve(mounted(openWorld({ signingKey })))
    const answer = await exchange(port, ask('GET /api/signing-key.pub', CLOSE))

    expect(answer).toContain(`\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`)
    expect(answer.endsWith(`\r\n\r\n${text}`)).toBe(true)
  })

  it('has its length beside a header of the host, also where HTTP/1.0 needs none', async () => {
    const handler = mounted(openWorld())
    const port = await serve((request, response) => {
      response.setHeader('X-Powered-By', 'a framework')
      handler(request, response)
    })
    const answer = await exchange(port, ask('GET /api/repos/acme/rocket/issues/pinned').replace('HTTP/1.1', 'HTTP/1.0'))

    expect(answer).toMatch(/\r\nContent-Length: 2\r\n.*\r\n\r\n\[\]$/s)
  })

  it.each([
    ['writeHead', (response: ServerResponse, then: () => void) => beforeCall(response, 'writeHead', then)],
    ['end', (response: ServerResponse, then: () => void) => beforeCall(response, 'end', then)],
  ])('gets the headers that middleware adds where it replaces %s', async (_method, replace) => {
    const handler = mounted(openWorld({ signingKey: sshKey }))
    const port = await serve((request, response) => {
      replace(response, () => {
        const type = response.getHeader('Content-Type')
        response.setHeader('X-Seen', String(type))
        response.removeHeader('ETag')
      })
      handler(request, response)
    })
    const text = await exchange(port, ask('GET /api/signing-key.pub'), ask('HEAD /api/signing-key.pub', CLOSE))

    expect(statuses(text)).toEqual([200, 200])
    expect(text.match(/\r\nX-Seen: text\/plain; charset=utf-8\r\n/g)).toHaveLength(2)
    expect(text).not.toContain('ETag')
  })
})

/** Replaces a method of a response, as middleware for compression, sessions and logging does: `then` runs before the first call. */
function beforeCall(response: ServerResponse, method: 'writeHead' | 'end', then: () => void): void {
  const original = response[method]
  Object.assign(response, {
    [method]: (...given: readonly unknown[]) => {
      if (!response.headersSent) then()
      return Reflect.apply(original, response, given)
    },
  })
}

describe('a body', () => {
  const slugs = '{"badge_slugs":["night-owl"]}'

  it('that stops coming ends the wait for it, and Node closes the connection as one that is idle', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const handler = mounted(openWorld({ limits: { maxBodyBytes: 100 } }))
    const port = await serve(handler, { keepAliveTimeout: 1 })
    const connection = await dial(port)
    void connection.send(ask(`POST ${BADGES}`, { ...ROOT, 'Content-Length': '1000000' }))

    expect(await connection.reply()).toMatchObject({ status: 413, text: expect.stringContaining('BODY_TOO_LARGE') })
    vi.advanceTimersByTime(5000)
    await connection.rest()
  })

  it.each([
    ['over the limit', ROOT, 413],
    ['of an anonymous caller', {}, 401],
  ])('of 1 GB, %s, is answered, not received, and the connection is closed', async (_what, headers, status) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const port = await serve(mounted(openWorld({ limits: { maxBodyBytes: 100 } })))
    const connection = await dial(port)
    void connection.send(ask(`POST ${BADGES}`, { ...headers, 'Content-Length': '1000000000' }), 'x'.repeat(50_000_000))
    const reply = await connection.reply()

    expect([reply.status, reply.headers.get('connection')]).toEqual([status, 'close'])
    expect(connection.socket.writableLength).toBeGreaterThan(0)
    vi.advanceTimersByTime(5000)
    await connection.rest()
  })

  it.each([
    ['an object', JSON.parse(slugs), 204],
    ['a string', slugs, 204],
    ['bytes', Buffer.from(slugs), 204],
    ['an empty object where nothing was read', {}, 204],
    ['a list', [], 422],
    ['null where nothing was read', null, 204],
    ['a number', 1, 422],
    ['a text over the limit', slugs.padEnd(101), 413],
    ['bytes over the limit', Buffer.from(slugs.padEnd(101)), 413],
  ])('that a body parser made %s is taken as it is', async (_what, body, status) => {
    const world = openWorld({ limits: { maxBodyBytes: 100 } })
    await world.forge.badges.catalogue.define('system', { slug: 'night-owl' })
    const handler = mounted(world)
    const port = await serve((request, response) => handler(Object.assign(request, { body }), response))

    expect(statuses(await exchange(port, ask(`POST ${BADGES}`, { ...ROOT, ...CLOSE }, slugs)))).toEqual([status])
  })

  it('that a body parser read and lost is the host’s mistake, which is logged', async () => {
    const world = openWorld()
    const handler = mounted(world)
    const port = await serve((request, response) => {
      request.resume().on('end', () => handler(request, response))
    })

    expect(statuses(await exchange(port, ask(`POST ${BADGES}`, { ...ROOT, ...CLOSE }, slugs)))).toEqual([500])
    expect(world.logged).toMatchObject([{ fields: { error: { message: expect.stringContaining('request.body') } } }])
  })

  it('may come as text, and in pieces', async () => {
    const world = openWorld()
    await world.forge.badges.catalogue.define('system', { slug: 'näght-öwl' })
    const handler = mounted(world)
    const port = await serve((request, response) => handler(request.setEncoding('utf8'), response))
    const body = Buffer.from('{"badge_slugs":["näght-öwl"]}')
    const pieces = [...body].map((byte) =>
      Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
    )
    const begin = ask(`POST ${BADGES}`, { ...ROOT, ...CLOSE, 'Transfer-Encoding': 'chunked' })

    expect(statuses(await exchange(port, begin, ...pieces, '0\r\n\r\n'))).toEqual([204])
  })
})
