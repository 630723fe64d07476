import type { IncomingMessage, RequestListener } from 'node:http'
import { expectTypeOf, it } from 'vitest'
import type { Api } from '../../../src/http-adapters/http.ts'
import { nodeHandler } from '../../../src/http-adapters/node.ts'

interface Person {
  readonly id: number
}

/** A request as Express has it: one of Node's with more on it. */
interface RicherRequest extends IncomingMessage {
  readonly user?: Person
  body: unknown
}

declare const api: Api<Person>

it('a handler is a listener for node:http', () => {
  const handler = nodeHandler(api, { authenticate: (request: IncomingMessage) => (request.url ? { id: 1 } : null) })

  expectTypeOf(handler).toExtend<RequestListener>()
})

it('authenticate sees the request of the framework', () => {
  const handler = nodeHandler(api, { authenticate: (request: RicherRequest) => request.user ?? null })

  expectTypeOf(handler).parameter(0).toEqualTypeOf<RicherRequest>()
})

it('authenticate must give what the forge knows as an actor', () => {
  // @ts-expect-error - a text is no actor
  nodeHandler(api, { authenticate: () => 'system' })
  // @ts-expect-error - an actor has an id
  nodeHandler(api, { authenticate: () => ({ name: 'mia' }) })
  // @ts-expect-error - no user is null, stated explicitly
  nodeHandler(api, { authenticate: () => undefined })
})

it('a base path begins with a slash', () => {
  // @ts-expect-error - it does not
  nodeHandler(api, { authenticate: () => null, basePath: 'api' })
})

it('authenticate sees the Authorization header as one text, without an annotation', () => {
  nodeHandler(api, {
    authenticate({ headers }) {
      expectTypeOf(headers.authorization).toEqualTypeOf<string | undefined>()
      expectTypeOf(headers['cookie']).toEqualTypeOf<string | readonly string[] | undefined>()
      return null
    },
  })
})
