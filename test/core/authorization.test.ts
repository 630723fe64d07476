import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { AccessDecision, AccessRequest, Caller, Forge } from '../../src/index.ts'
import type { Person } from './a-forge.ts'
import { aForge, codeOf, olga } from './a-forge.ts'

const issue = { id: '7', repositoryId: '10', kind: 'issue' } as const
const block = { organizationId: 5, account: { kind: 'user', id: '9' } } as const
const userBlock = { blockerId: 9, account: { kind: 'user', id: '8' } } as const
const grants = { userId: 9, slugs: [] }
const owl = { slug: 'owl' }
const key = { format: 'ssh', repositoryId: 10 } as const
const incoming = { repositoryId: 10, records: [] }
const named = { repositoryId: 10, people: {} }
const publicKey = { format: 'ssh', text: 'ssh-ed25519 AAAA\n', etag: '"1"' } as const

type Action = AccessRequest['action']
type Act = (forge: Forge<Person, undefined>, who: Caller<Person>) => Promise<unknown>

/** Every method that asks the policy, by the object that it names and the code of the error if the policy conceals that. */
const ASKING: readonly {
  readonly about: Partial<Record<'repositoryId' | 'organizationId' | 'userId', string>>
  readonly concealed: string
  /** A call that asks for a second action names that too. */
  readonly methods: readonly (readonly [method: string, Action, Act, also?: Action])[]
}[] = [
  {
    about: { repositoryId: '10' },
    concealed: 'REPOSITORY_NOT_FOUND',
    methods: [
      ['pins.pin', 'pins.write', ({ pins }, who) => pins.pin(who, issue)],
      ['pins.unpin', 'pins.write', ({ pins }, who) => pins.unpin(who, issue)],
      ['pins.move', 'pins.write', ({ pins }, who) => pins.move(who, { issue, position: 1 })],
      ['pins.list', 'pins.read', ({ pins }, who) => pins.list(who, issue)],
      ['pins.positions', 'pins.read', ({ pins }, who) => pins.positions(who, [issue, { ...issue, id: '8' }])],
      ['pins.allowed', 'pins.read', ({ pins }, who) => pins.allowed(who, 10)],
      ['pins.history', 'pins.read', ({ pins }, who) => pins.history(who, issue)],
      ['signingKeys.publicKey', 'signing-keys.read', ({ signingKeys }, who) => signingKeys.publicKey(who, key)],
      ['exchange.import', 'issues.import', ({ exchange }, who) => exchange.import(who, incoming)],
      ['exchange.inspect', 'issues.import', ({ exchange }, who) => exchange.inspect(who, incoming)],
      [
        'exchange.reattribute',
        'issues.import',
        ({ exchange }, who) => exchange.reattribute(who, named),
        'issues.attribute',
      ],
      ['exchange.export', 'issues.export', ({ exchange }, who) => firstOf(exchange.export(who, 10))],
      ['exchange.exportAll', 'issues.export', ({ exchange }, who) => firstOf(exchange.exportAll(who, 10))],
    ],
  },
  {
    about: { organizationId: '5' },
    concealed: 'ORGANIZATION_NOT_FOUND',
    methods: [
      ['blocks.block', 'blocks.write', ({ blocks }, who) => blocks.block(who, block)],
      ['blocks.unblock', 'blocks.write', ({ blocks }, who) => blocks.unblock(who, block)],
      ['blocks.find', 'blocks.read', ({ blocks }, who) => blocks.find(who, { organizationId: 5, userId: 9 })],
      ['blocks.list', 'blocks.read', ({ blocks }, who) => blocks.list(who, { organizationId: 5 })],
    ],
  },
  {
    about: { userId: '9' },
    concealed: 'USER_NOT_FOUND',
    methods: [
      ['badges.grant', 'badges.grant', ({ badges }, who) => badges.grant(who, grants)],
      ['badges.revoke', 'badges.grant', ({ badges }, who) => badges.revoke(who, grants)],
      ['badges.heldBy', 'badges.read', ({ badges }, who) => badges.heldBy(who, 9)],
      ['blocks.block', 'user-blocks.write', ({ blocks }, who) => blocks.block(who, userBlock)],
      ['blocks.unblock', 'user-blocks.write', ({ blocks }, who) => blocks.unblock(who, userBlock)],
      ['blocks.find', 'user-blocks.read', ({ blocks }, who) => blocks.find(who, { blockerId: 9, userId: 8 })],
      ['blocks.list', 'user-blocks.read', ({ blocks }, who) => blocks.list(who, { blockerId: 9 })],
    ],
  },
  {
    about: {},
    concealed: 'USER_NOT_FOUND',
    methods: [
      ['badges.heldByMany', 'badges.read', ({ badges }, who) => badges.heldByMany(who, [8, 9])],
      ['badges.holders', 'badges.read', ({ badges }, who) => badges.holders(who, owl)],
    ],
  },
  {
    about: {},
    concealed: 'FORBIDDEN',
    methods: [
      ['authorize', 'events.read', ({ authorize }, who) => authorize(who, { action: 'events.read' })],
      ['badges.catalogue.define', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.define(who, owl)],
      ['badges.catalogue.update', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.update(who, owl)],
      ['badges.catalogue.remove', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.remove(who, 'a')],
      ['badges.catalogue.find', 'badges.catalogue.read', ({ badges }, who) => badges.catalogue.find(who, 'a')],
      ['badges.catalogue.list', 'badges.catalogue.read', ({ badges }, who) => badges.catalogue.list(who)],
    ],
  },
]
const asking = ASKING.flatMap(({ about, concealed, methods }) =>
  methods.map(([method, action, act, also]) => ({
    method,
    act,
    requests: [action, ...(also === undefined ? [] : [also])].map((each) => ({ action: each, ...about })),
    concealed,
  })),
)

async function firstOf(records: AsyncIterable<unknown>): Promise<unknown> {
  return (await records[Symbol.asyncIterator]().next()).value
}

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

  expect(methodsOf(services).toSorted()).toEqual([...unasked, ...methods].toSorted())
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
