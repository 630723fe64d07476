import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { Hono } from 'hono'
import { describe, expectTypeOf, it } from 'vitest'
import { fetchHandler } from '../../src/http-adapters/fetch.ts'
import type { Api } from '../../src/http-adapters/http.ts'
import { nodeHandler } from '../../src/http-adapters/node.ts'

interface Person {
  readonly id: number
}

declare const api: Api<Person>

describe('nodeHandler', () => {
  it('authenticates the request of the framework', () => {
    /** A request as Express has it: one of Node's with more on it. */
    interface RicherRequest extends IncomingMessage {
      readonly user?: Person
      body: unknown
    }
    const handler = nodeHandler(api, { authenticate: (request: RicherRequest) => request.user ?? null })

    expectTypeOf(handler).parameter(0).toEqualTypeOf<RicherRequest>()
  })

  it('must be given what the forge knows as an actor', () => {
    // @ts-expect-error - a text is no actor
    nodeHandler(api, { authenticate: () => 'system' })
    // @ts-expect-error - an actor has an id
    nodeHandler(api, { authenticate: () => ({ name: 'mia' }) })
    // @ts-expect-error - no user is null, stated explicitly
    nodeHandler(api, { authenticate: () => undefined })
  })

  it('takes a base path that begins with a slash', () => {
    // @ts-expect-error - it does not
    nodeHandler(api, { authenticate: () => null, basePath: 'api' })
  })
})

describe('fetchHandler', () => {
  it('authenticates the request of the framework', () => {
    /** A request as Next.js has it: one of Fetch's with more on it. */
    interface RicherRequest extends Request {
      readonly cookies: { get(name: string): string | undefined }
    }
    const handler = fetchHandler(api, {
      authenticate: (request: RicherRequest) => (request.cookies.get('x') ? { id: 1 } : null),
    })

    expectTypeOf(handler).parameter(0).toEqualTypeOf<RicherRequest>()
  })

  it('authenticates with what the runtime hands in, and asks for it', () => {
    interface Environment {
      readonly TOKEN: string
    }
    const handler = fetchHandler(api, {
      authenticate: (_request: Request, environment: Environment) => (environment.TOKEN ? { id: 1 } : null),
    })

    expectTypeOf(handler).toExtend<
      (request: Request, environment: Environment, context: object) => Response | Promise<Response>
    >()
    // @ts-expect-error - authenticate would have no environment
    handler(new Request('https://git.example.com'))

    const inHono = fetchHandler(api, { authenticate: (_request: Request, context: Context) => context.get('user') })
    new Hono().use('/api/v1/*', async (context, next) => (await inHono.match(context.req.raw, context)) ?? next())
  })
})
