import { expectTypeOf, test } from 'vitest'
import type { Directory, ErrorCode, ObservedRequest, Observer, Presenter } from '../../../src/http-adapters/http.ts'
import { createApi } from '../../../src/http-adapters/http.ts'
import type { Actor, Forge } from '../../../src/index.ts'

declare const forge: Forge
declare const directory: Directory<Actor>
declare const present: Presenter<Actor>

test('an observer of requests receives the response', () => {
  createApi(forge, {
    directory,
    present,
    observer: {
      request(request) {
        expectTypeOf(request).toEqualTypeOf<ObservedRequest>()
        expectTypeOf(request.path).toEqualTypeOf<string | undefined>()
        expectTypeOf(request.status).toEqualTypeOf<number>()
        expectTypeOf(request.code).toEqualTypeOf<ErrorCode | undefined>()
        expectTypeOf(request.service).toEqualTypeOf<
          'pins' | 'blocks' | 'badges' | 'signing-keys' | 'exchange' | undefined
        >()
      },
    },
  })
})

test('an observer is an object with a method, or left out', () => {
  createApi(forge, { directory, present, observer: undefined })
  createApi(forge, { directory, present, observer: {} })
  // @ts-expect-error a function is none
  createApi(forge, { directory, present, observer: () => undefined })
  // @ts-expect-error a channel is none
  createApi(forge, { directory, present, observer: { publish: () => undefined } })
  // @ts-expect-error an API has no operations of a storage: its forge observes them
  createApi(forge, { directory, present, observer: { operation: () => undefined } })
})

test('the observer of a forge can be handed to an API too', () => {
  const observer: Observer = { operation: () => undefined, request: () => undefined }

  createApi(forge, { directory, present, observer })
})
