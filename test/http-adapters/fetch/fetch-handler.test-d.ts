import type { Context } from 'hono'
import { Hono } from 'hono'
import { expectTypeOf, it } from 'vitest'
import { fetchHandler } from '../../../src/http-adapters/fetch.ts'
import type { Api } from '../../../src/http-adapters/http.ts'

interface Person {
  readonly id: number
}

/** A request as Next.js has it: one of Fetch's with more on it. */
interface RicherRequest extends Request {
  readonly cookies: { get(name: string): string | undefined }
}

interface Environment {
  readonly TOKEN: string
}

declare const api: Api<Person>

it('a handler is a function of a request', () => {
  const handler = fetchHandler(api, { authenticate: ({ headers }) => (headers.get('x') ? { id: 1 } : null) })

  expectTypeOf(handler).toExtend<(request: Request) => Response | Promise<Response>>()
  expectTypeOf(handler.match).returns.toEqualTypeOf<Response | undefined | Promise<Response | undefined>>()
  new Hono().mount('/api/v1', handler)
})

it('authenticate sees the request of the framework', () => {
  const handler = fetchHandler(api, {
    authenticate: (request: RicherRequest) => (request.cookies.get('x') ? { id: 1 } : null),
  })

  expectTypeOf(handler).parameter(0).toEqualTypeOf<RicherRequest>()
})

it('authenticate sees what the runtime hands in, and the handler asks for it', () => {
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
