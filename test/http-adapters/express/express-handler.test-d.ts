import type { Request as Request5 } from 'express'
import express5 from 'express'
import type { Request as Request4 } from 'express4'
import express4 from 'express4'
import { expectTypeOf, it } from 'vitest'
import { expressHandler } from '../../../src/http-adapters/express.ts'
import type { Api } from '../../../src/http-adapters/http.ts'

interface Person {
  readonly id: number
}

declare const api: Api<Person>

it('a handler is a middleware of Express 4 and of Express 5', () => {
  const handler = expressHandler(api, { authenticate: () => null })

  express4().use('/api/v1', handler)
  express5().use('/api/v1', handler)
  express5.Router().use(handler)
})

it('authenticate sees the request of Express', () => {
  const in4 = expressHandler(api, { authenticate: (request: Request4) => (request.get('x') ? { id: 1 } : null) })
  const in5 = expressHandler(api, {
    authenticate: async (request: Request5 & { readonly user?: Person }) => request.user ?? null,
  })

  expectTypeOf(in4).parameter(0).toEqualTypeOf<Request4>()
  express4().use(in4)
  express5().use(in5)
})

it('authenticate must give what the forge knows as an actor', () => {
  // @ts-expect-error - an actor has an id
  expressHandler(api, { authenticate: () => ({ name: 'mia' }) })
})

it('the mount point may be that of app.use, or an option', () => {
  express5().use(expressHandler(api, { authenticate: () => null, basePath: '/api/v1' }))
})
