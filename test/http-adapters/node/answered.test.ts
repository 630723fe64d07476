import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import middie from '@fastify/middie'
import express from 'express'
import fastify from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import { deferred } from '../../deferred.ts'
import { ask, dial, exchange, serve, statuses } from '../../http.ts'
import { authenticate, openWorld } from '../../world.ts'
import { mounted } from './mounted.ts'

const CLOSE = { Connection: 'close' }
const ADA = { Authorization: 'token ada' }
const PIN = ask('POST /api/repos/acme/rocket/issues/1/pin', { ...CLOSE, ...ADA })

/** What a framework does: it presets 404, waits for the middleware, and answers what has no answer then. */
function awaiting(handle: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>): RequestListener {
  return async (request, response) => {
    response.statusCode = 404
    await handle(request, response)
    if (!response.writableEnded) response.end('the framework')
  }
}

describe('the promise of a handler', () => {
  it.each([
    ['a change', PIN, 204],
    ['a refusal', ask('POST /api/repos/acme/rocket/issues/1/pin', CLOSE), 401],
    [
      'a body that is too large',
      ask('POST /api/admin/users/stan/badges', { Authorization: 'token root', ...CLOSE }, 'x'.repeat(2 ** 21)),
      413,
    ],
    ['an unknown path', ask('GET /other', CLOSE), 404],
  ])('is kept when the response has been sent: %s', async (_what, text, status) => {
    const handler = mounted(openWorld())
    const port = await serve(awaiting((request, response) => handler(request, response)))

    expect(statuses(await exchange(port, text))).toEqual([status])
  })

  it('becomes that of next, if next is called', async () => {
    const handler = mounted(openWorld())
    const port = await serve(
      awaiting((request, response) =>
        handler(request, response, async () => {
          await Promise.resolve()
          response.end('the next')
        }),
      ),
    )

    expect(await exchange(port, ask('GET /other', CLOSE))).toMatch(/the next$/)
  })

  it('fails if next fails', async () => {
    const handler = mounted(openWorld())
    const failures: unknown[] = []
    const port = await serve(
      awaiting((request, response) =>
        handler(request, response, () => {
          throw new Error('next fails')
        }).catch((error) => failures.push(error)),
      ),
    )

    expect(statuses(await exchange(port, ask('GET /other', CLOSE)))).toEqual([404])
    expect(failures).toEqual([new Error('next fails')])
  })

  it.each([
    ['has begun', true],
    ['begins while it authenticates', false],
  ])('waits for nothing when the host %s the response, which is left alone', async (_when, isBegun) => {
    const world = openWorld()
    const port = await serve(
      awaiting((request, response) => {
        const begin = () => response.writeHead(202, { 'Content-Length': '4' })
        const authenticate = vi.fn(() => {
          begin()
          return null
        })
        if (isBegun) begin()
        return mounted(world, { authenticate })(request, response).then(() => {
          expect(authenticate).toHaveBeenCalledTimes(isBegun ? 0 : 1)
          response.end('mine')
        })
      }),
    )

    expect(await exchange(port, PIN)).toMatch(/^HTTP\/1\.1 202 [\s\S]*\r\n\r\nmine$/)
    expect(world.logged).toEqual([])
  })

  it('is kept when the client has gone', async () => {
    const asked = deferred()
    const authenticated = deferred<null>()
    const kept = deferred()
    const handler = mounted(openWorld(), {
      authenticate: () => {
        asked.resolve()
        return authenticated.promise
      },
    })
    const port = await serve((request, response) => {
      response.on('close', () => authenticated.resolve(null))
      handler(request, response).then(() => kept.resolve())
    })
    const connection = await dial(port)
    await connection.send(PIN)
    await asked.promise
    connection.socket.destroy()

    await kept.promise
  })
})

// Fastify and hapi have such requests for tests, and adapters for AWS Lambda use them.
describe('a request that a framework injects', () => {
  it.each([
    ['a body that is used', 'token root', 422],
    ['a body that is not read', 'token ada', 403],
  ])('is answered without waiting for the rest of %s', { timeout: 2500 }, async (_what, authorization, statusCode) => {
    const application = fastify()
    await application.register(middie)
    application.use(mounted(openWorld()))
    const headers = { authorization, 'content-type': 'application/json' }
    const payload = { badge_slugs: ['unknown'] }

    expect(
      await application.inject({ method: 'POST', url: '/api/admin/users/stan/badges', headers, payload }),
    ).toMatchObject({ statusCode })
  })
})

describe('the path of a request', () => {
  it.each([
    ['a prefix that is stripped and named too', '/api', '/api/repos/acme/rocket/issues/1/pin', 204],
    ['a wildcard that leaves nothing', '/api/*splat', '/api/repos/acme/rocket/issues/1/pin', 204],
    ['an application below another path', '/git', '/git/api/repos/acme/rocket/issues/1/pin', 204],
    ['another path', '/git', '/git/repos/acme/rocket/issues/1/pin', 404],
  ])('is found behind %s', async (_what, prefix, path, status) => {
    const application = express()
    const authenticated = vi.fn(({ headers }) => authenticate(headers.authorization))
    application.use(prefix, nodeHandler(openWorld().api, { authenticate: authenticated, basePath: '/api' }))
    const port = await serve(application)

    expect(statuses(await exchange(port, ask(`POST ${path}`, { ...CLOSE, ...ADA })))).toEqual([status])
    expect(authenticated).toHaveBeenCalledTimes(status === 204 ? 1 : 0)
  })
})
