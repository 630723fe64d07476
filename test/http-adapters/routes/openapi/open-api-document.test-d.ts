import { expectTypeOf, it } from 'vitest'
import type { Api, OpenApiDocument } from '../../../../src/http-adapters/http.ts'

declare const api: Api<{ readonly id: number }>

it('a host may change what callers must show, as the documentation does', () => {
  const document = api.openApi()
  document.components.securitySchemes = { session: { type: 'apiKey', in: 'cookie', name: 'session' } }
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    const isOpen = operation.security.some((way) => Object.keys(way).length === 0)
    operation.security = isOpen ? [{ session: [] }, {}] : [{ session: [] }]
  }

  expectTypeOf(document).toEqualTypeOf<OpenApiDocument>()
})

it('a host may add what is not in it', () => {
  const document = { ...api.openApi(), externalDocs: { url: 'https://git.example.com/help' } }

  expectTypeOf(document).toExtend<OpenApiDocument>()
})
