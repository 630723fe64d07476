import { expectTypeOf, test } from 'vitest'
import type { ErrorCode, ObservedRequest, Observer, ServiceName } from '../../../src/http-adapters/http.ts'

test('an observer of requests receives the response', () => {
  const observer: Observer = {
    request(request) {
      expectTypeOf(request).toEqualTypeOf<ObservedRequest>()
      expectTypeOf(request.path).toEqualTypeOf<string | undefined>()
      expectTypeOf(request.status).toEqualTypeOf<number>()
      expectTypeOf(request.code).toEqualTypeOf<ErrorCode | undefined>()
      expectTypeOf(request.service).toEqualTypeOf<ServiceName | undefined>()
    },
  }

  expectTypeOf(observer).toExtend<object>()
})

test('an observer is an object with a method', () => {
  const none: Observer = {}
  // @ts-expect-error a function is none
  const aFunction: Observer = () => undefined
  // @ts-expect-error a channel is none
  const channel: Observer = { publish: () => undefined }

  expectTypeOf([none, aFunction, channel]).toExtend<object>()
})
