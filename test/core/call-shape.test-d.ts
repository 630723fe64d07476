import { expectTypeOf, test } from 'vitest'
import type { Actor, Caller, CallOptions, Forge, Services } from '../../src/index.ts'

/** The methods of `T` whose arguments are not `(caller, input, options?)`. */
type Deviating<T> = {
  [K in keyof T]: T[K] extends (...args: infer P) => Promise<unknown> ? (HasShape<P> extends true ? never : K) : never
}[keyof T]

type HasShape<P extends readonly unknown[]> =
  Required<P> extends readonly [Caller<Actor>, unknown, infer Options]
    ? [CallOptions | undefined] extends [Options | undefined]
      ? [Caller<Actor>] extends [P[0]]
        ? true
        : false
      : false
    : false

type All = Services<Actor>

/** The services whose methods all ask the policy. */
type Asking = Omit<All, 'blocks' | 'lifecycle' | 'events'>

test('a service method takes (caller, input, options?)', () => {
  expectTypeOf<{ [S in keyof Asking]: Deviating<Asking[S]> }[keyof Asking]>().toEqualTypeOf<never>()
  expectTypeOf<Deviating<All['badges']['catalogue']>>().toEqualTypeOf<never>()
  expectTypeOf<Deviating<Pick<Forge, 'authorize'>>>().toEqualTypeOf<never>()
})

test('a method that never asks the policy has no caller', () => {
  expectTypeOf<Deviating<All['blocks']>>().toEqualTypeOf<'isBlocked' | 'filterBlocked'>()
  expectTypeOf<Deviating<All['lifecycle']>>().toEqualTypeOf<keyof All['lifecycle']>()
  expectTypeOf<Deviating<All['events']>>().toEqualTypeOf<Exclude<keyof All['events'], 'on'>>()
})
