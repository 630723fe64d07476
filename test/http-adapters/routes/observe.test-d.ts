import { expectTypeOf, test } from 'vitest'
import type { ApiOptions, Directory, ErrorCode, ObservedRequest, Presenter } from '../../../src/http-adapters/http.ts'
import { createApi } from '../../../src/http-adapters/http.ts'
import type { Actor, Forge } from '../../../src/index.ts'

declare const forge: Forge
declare const directory: Directory<Actor>
declare const present: Presenter<Actor>

test('an observer of requests is told what was answered', () => {
  createApi(forge, {
    directory,
    present,
    observe(request) {
      expectTypeOf(request).toEqualTypeOf<ObservedRequest>()
      expectTypeOf(request.path).toEqualTypeOf<string | undefined>()
      expectTypeOf(request.status).toEqualTypeOf<number>()
      expectTypeOf(request.code).toEqualTypeOf<ErrorCode | undefined>()
      expectTypeOf(request.service).toEqualTypeOf<'pins' | 'blocks' | 'badges' | 'signing-keys' | undefined>()
    },
  })
})

test('an observer is a function, or left out', () => {
  expectTypeOf<ApiOptions<Actor>['observe']>().toEqualTypeOf<((request: ObservedRequest) => void) | undefined>()
  // @ts-expect-error a channel is none
  createApi(forge, { directory, present, observe: { publish: () => undefined } })
})
