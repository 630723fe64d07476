import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { AccessDecision, AccessRequest } from '../../src/index.ts'
import { methods as methodsOfServices } from '../services.ts'
import { aForge, codeOf, olga } from './a-forge.ts'
import { methodsAbout } from './asking.ts'

const issue = { id: '7', repositoryId: '10', kind: 'issue' } as const
const publicKey = { format: 'ssh', text: 'ssh-ed25519 AAAA\n', etag: '"1"' } as const

const asking = [
  ...methodsOfServices,
  ...methodsAbout({}, 'FORBIDDEN', [
    ['authorize', 'events.read', ({ authorize }, who) => authorize(who, { action: 'events.read' })],
  ]),
]

function guarded(decision: AccessDecision) {
  const asked: AccessRequest[] = []
  const forge = aForge({
    policy: {
      authorize(request) {
        asked.push(request)
        return decision
      },
    },
    signingKey: { format: 'ssh', publicKey: () => publicKey },
    issues: {
      issues: () => [],
      comments: 'none',
      findUsers: () => [],
      write: () => undefined,
      attribution: { named: () => [], attribute: () => undefined },
    },
  })
  return { forge, asked }
}

const NO = { allow: false, reason: 'no' } as const

test('every method that takes a caller is in the list', () => {
  const { lifecycle, events, ...services } = aForge()
  const ofHost = ['blocks.isBlocked', 'blocks.refuseBlocked', 'blocks.filterBlocked']
  const unasked = [...ofHost, 'withTransaction', 'withTransactionSync', 'close']
  const methods = new Set(asking.map(({ method }) => method))

  const advice = 'each method that asks the policy is in the file of its service in test/services/, under methods'
  expect(methodsOf(services).toSorted(), advice).toEqual([...unasked, ...methods].toSorted())
})

/** The names of all functions in an object and in its objects. */
function methodsOf(part: object): readonly string[] {
  return Object.entries(part).flatMap(([name, value]) => {
    if (typeof value === 'function') return [name]
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
    return methodsOf(value).map((method) => `${name}.${method}`)
  })
}

describe.each(asking)('$method, $requests.0.action', ({ act, requests, concealed }) => {
  test('asks the policy exactly once for each action', async () => {
    const { forge, asked } = guarded({ allow: true })
    await act(forge, olga).catch(() => undefined)
    expect(asked).toEqual(requests)
  })

  test('asks nothing for the host itself', async () => {
    const { forge, asked } = guarded(NO)
    await act(forge, 'system').catch(() => undefined)
    expect(asked).toEqual([])
  })

  test('is forbidden to a signed-in user whom the policy refuses', async () => {
    expect(await codeOf(() => act(guarded(NO).forge, olga))).toBe('FORBIDDEN')
  })

  test('requires a credential from no one', async () => {
    expect(await codeOf(() => act(guarded(NO).forge, 'anonymous'))).toBe('UNAUTHENTICATED')
  })

  test('conceals', async () => {
    expect(await codeOf(() => act(guarded({ ...NO, conceal: true }).forge, olga))).toBe(concealed)
  })
})

test('a public key without a repository asks nothing', async () => {
  const { forge, asked } = guarded(NO)
  expect(await forge.signingKeys.publicKey('anonymous', { format: 'ssh' })).toEqual(publicKey)
  expect(asked).toEqual([])
})

test.each(['olga', undefined, null, {}])('%j is not an actor', async (stranger) => {
  const { pins } = aForge()
  await expect(Reflect.apply(pins.list, pins, [stranger, issue])).rejects.toThrow('an actor must be')
})

test.each([null, '', Number.NaN, 1.5, {}, [7]])('the policy is not asked about an actor whose id is %j', async (id) => {
  const { forge, asked } = guarded({ allow: true })
  for (const method of [forge.pins.list, forge.pins.pin]) {
    await expect(Reflect.apply(method, forge.pins, [{ id }, issue])).rejects.toThrow(/^actor\.id must be/)
  }
  expect(asked).toEqual([])
})

test.each([
  undefined,
  null,
  'allow',
  [{ allow: true }],
  { allow: undefined },
  { allow: 1 },
  { allow: 't' },
  { allow: 'false', reason: 'no' },
  { allow: 0, reason: 'no', conceal: true },
  { allow: false, reason: 'no', conceal: 'yes' },
  { allow: false, reason: 'no', conceal: null },
])('the decision %j is a TypeError, at once and later, and nothing is done', async (malformed) => {
  const decision = malformed as AccessDecision // a host in JavaScript may return anything
  for (const given of [decision, Promise.resolve(decision)]) {
    const forge = aForge({ policy: { authorize: () => given } })
    for (const who of ['anonymous', olga] as const) {
      await expect(forge.pins.pin(who, issue)).rejects.toThrow(
        new TypeError(
          'policy.authorize must return { allow: true } or { allow: false, reason }, with conceal: true to conceal',
        ),
      )
    }
    expect(await forge.pins.list('system', issue)).toEqual([])
  }
})

test.each([undefined, null, 7, { code: 'no' }])('a refusal for the reason %j is a TypeError', async (reason) => {
  const decision = { allow: false, reason } as unknown as AccessDecision // a host in JavaScript may return anything
  const pinned = guarded(decision).forge.pins.pin(olga, issue)
  await expect(pinned).rejects.toThrow(/^policy\.authorize must return/)
})

test.each([false, undefined])('a decision with conceal: %s conceals nothing', async (conceal) => {
  expect(await codeOf(() => guarded({ ...NO, conceal }).forge.pins.list(olga, issue))).toBe('FORBIDDEN')
})

test('an unknown action that the policy conceals is a TypeError', async () => {
  const { forge } = guarded({ ...NO, conceal: true })
  const authorized = Reflect.apply(forge.authorize, forge, [olga, { action: 'wiki.write' }])
  await expect(authorized).rejects.toThrow(new TypeError('unknown action "wiki.write"'))
})

test('calls that have ended leave no listener on the signal of their caller', async () => {
  const { signal } = new AbortController()
  for (const authorize of [async () => NO, async () => Promise.reject(new Error('the database is away'))]) {
    const { pins } = aForge({ policy: { authorize } })
    await expect(pins.list(olga, issue, { signal })).rejects.toThrow(Error)
  }
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
