import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { AccessDecision, AccessRequest, Caller, Forge } from '../../../src/index.ts'
import type { Person } from '../a-forge.ts'
import { aForge, codeOf, olga } from '../a-forge.ts'

const issue = { id: '7', repositoryId: '10', kind: 'issue' } as const
const account = { kind: 'user', id: '9' } as const
const publicKey = { format: 'ssh', text: 'ssh-ed25519 AAAA\n', etag: '"1"' } as const

type Act = (forge: Forge<Person, undefined>, who: Caller<Person>) => Promise<unknown>

/** Every method that asks the policy, what it asks, and what a concealed thing answers. */
const asking: readonly [string, Act, AccessRequest, string][] = [
  [
    'pins.pin',
    (f, who) => f.pins.pin(who, issue),
    { action: 'pins.write', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'pins.unpin',
    (f, who) => f.pins.unpin(who, issue),
    { action: 'pins.write', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'pins.move',
    (f, who) => f.pins.move(who, { issue, position: 1 }),
    { action: 'pins.write', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'pins.list',
    (f, who) => f.pins.list(who, issue),
    { action: 'pins.read', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'pins.allowed',
    (f, who) => f.pins.allowed(who, 10),
    { action: 'pins.read', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'pins.history',
    (f, who) => f.pins.history(who, issue),
    { action: 'pins.read', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'blocks.block',
    (f, who) => f.blocks.block(who, { organizationId: 5, account }),
    { action: 'blocks.write', organizationId: '5' },
    'ORGANIZATION_NOT_FOUND',
  ],
  [
    'blocks.unblock',
    (f, who) => f.blocks.unblock(who, { organizationId: 5, account }),
    { action: 'blocks.write', organizationId: '5' },
    'ORGANIZATION_NOT_FOUND',
  ],
  [
    'blocks.find',
    (f, who) => f.blocks.find(who, { organizationId: 5, userId: 9 }),
    { action: 'blocks.read', organizationId: '5' },
    'ORGANIZATION_NOT_FOUND',
  ],
  [
    'blocks.list',
    (f, who) => f.blocks.list(who, { organizationId: 5 }),
    { action: 'blocks.read', organizationId: '5' },
    'ORGANIZATION_NOT_FOUND',
  ],
  [
    'badges.grant',
    (f, who) => f.badges.grant(who, { userId: 9, slugs: [] }),
    { action: 'badges.grant', userId: '9' },
    'USER_NOT_FOUND',
  ],
  [
    'badges.revoke',
    (f, who) => f.badges.revoke(who, { userId: 9, slugs: [] }),
    { action: 'badges.grant', userId: '9' },
    'USER_NOT_FOUND',
  ],
  ['badges.heldBy', (f, who) => f.badges.heldBy(who, 9), { action: 'badges.read', userId: '9' }, 'USER_NOT_FOUND'],
  [
    'catalogue.define',
    (f, who) => f.badges.catalogue.define(who, { slug: 'a' }),
    { action: 'badges.catalogue.write' },
    'FORBIDDEN',
  ],
  [
    'catalogue.update',
    (f, who) => f.badges.catalogue.update(who, { slug: 'a' }),
    { action: 'badges.catalogue.write' },
    'FORBIDDEN',
  ],
  [
    'catalogue.remove',
    (f, who) => f.badges.catalogue.remove(who, 'a'),
    { action: 'badges.catalogue.write' },
    'FORBIDDEN',
  ],
  ['catalogue.find', (f, who) => f.badges.catalogue.find(who, 'a'), { action: 'badges.catalogue.read' }, 'FORBIDDEN'],
  ['catalogue.list', (f, who) => f.badges.catalogue.list(who), { action: 'badges.catalogue.read' }, 'FORBIDDEN'],
  [
    'signingKeys.publicKey',
    (f, who) => f.signingKeys.publicKey(who, { format: 'ssh', repositoryId: 10 }),
    { action: 'signing-keys.read', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'exchange.import',
    (f, who) => f.exchange.import(who, { repositoryId: 10, records: [] }),
    { action: 'issues.import', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'exchange.inspect',
    (f, who) => f.exchange.inspect(who, { repositoryId: 10, records: [] }),
    { action: 'issues.import', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'exchange.export',
    (f, who) => firstOf(f.exchange.export(who, 10)),
    { action: 'issues.export', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  [
    'exchange.exportAll',
    (f, who) => firstOf(f.exchange.exportAll(who, 10)),
    { action: 'issues.export', repositoryId: '10' },
    'REPOSITORY_NOT_FOUND',
  ],
  ['authorize', (f, who) => f.authorize(who, { action: 'events.read' }), { action: 'events.read' }, 'FORBIDDEN'],
]

async function firstOf(records: AsyncIterable<unknown>): Promise<unknown> {
  return (await records[Symbol.asyncIterator]().next()).value
}

function guarded(decision: AccessDecision): {
  readonly forge: Forge<Person, undefined>
  readonly asked: AccessRequest[]
} {
  const asked: AccessRequest[] = []
  const forge = aForge({
    policy: {
      authorize(request) {
        asked.push(request)
        return decision
      },
    },
    signingKey: { format: 'ssh', publicKey: () => publicKey },
    issues: { issues: () => [], comments: 'none', findUsers: () => [], write: () => undefined },
  })
  return { forge, asked }
}

test('every method that takes a caller is in the list', () => {
  const { lifecycle, events, ...services } = aForge()
  const unasked = ['blocks.filterBlocked', 'withTransaction', 'withTransactionSync', 'close']
  const known = [...unasked, ...asking.map(([method]) => method.replace('catalogue.', 'badges.catalogue.'))]

  expect(methodsOf(services).toSorted()).toEqual(known.toSorted())
})

/** The names of all functions in an object and in its objects. */
function methodsOf(part: object): readonly string[] {
  return Object.entries(part).flatMap(([name, value]) => {
    if (typeof value === 'function') return [name]
    return isRecord(value) ? methodsOf(value).map((method) => `${name}.${method}`) : []
  })
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

describe.each(asking)('%s', (_method, act, request, concealed) => {
  test('asks the policy exactly once', async () => {
    const { forge, asked } = guarded({ allow: true })
    await act(forge, olga).catch(() => undefined)
    expect(asked).toEqual([request])
  })

  test('asks nothing for the host itself', async () => {
    const { forge, asked } = guarded({ allow: false, reason: 'no' })
    await act(forge, 'system').catch(() => undefined)
    expect(asked).toEqual([])
  })

  test('is forbidden to a signed-in user whom the policy refuses', async () => {
    expect(await codeOf(() => act(guarded({ allow: false, reason: 'no' }).forge, olga))).toBe('FORBIDDEN')
  })

  test('requires a credential from no one', async () => {
    expect(await codeOf(() => act(guarded({ allow: false, reason: 'no' }).forge, 'anonymous'))).toBe('UNAUTHENTICATED')
  })

  test('conceals', async () => {
    const decision = { allow: false, reason: 'no', conceal: true } as const
    expect(await codeOf(() => act(guarded(decision).forge, olga))).toBe(concealed)
  })
})

test('a public key without a repository asks nothing', async () => {
  const { forge, asked } = guarded({ allow: false, reason: 'no' })
  expect(await forge.signingKeys.publicKey('anonymous', { format: 'ssh' })).toEqual(publicKey)
  expect(asked).toEqual([])
})

test.each(['olga', undefined, null, {}])('%j is not an actor', async (stranger) => {
  const who = stranger as unknown as Person
  await expect(aForge().pins.list(who, issue)).rejects.toThrow('an actor must be')
})

describe('a decision of the policy that is malformed', () => {
  const malformed: readonly unknown[] = [
    undefined,
    null,
    true,
    'allow',
    {},
    { allow: undefined },
    { allow: null },
    { allow: 1 },
    { allow: 't' },
    { allow: 'false', reason: 'no' },
    { allow: 0, reason: 'no', conceal: true },
    { allow: false, reason: 'no', conceal: 'yes' },
    { allow: false, reason: 'no', conceal: 1 },
    { allow: false, reason: 'no', conceal: null },
    [],
    [{ allow: true }],
  ]
  const waits = [
    ['at once', (decision: unknown) => decision as AccessDecision],
    ['later', (decision: unknown) => Promise.resolve(decision as AccessDecision)],
  ] as const
  const cases = malformed.flatMap((decision) =>
    waits.map(([when, given]) => [JSON.stringify(decision), when, given(decision)] as const),
  )

  describe.each(cases)('%s, %s', (_text, _when, decision) => {
    test.each(['anonymous', olga] as const)('is a TypeError to %o, and nothing is done', async (who) => {
      const forge = aForge({ policy: { authorize: () => decision } })
      await expect(forge.pins.pin(who, issue)).rejects.toThrow(
        new TypeError(
          'policy.authorize must return { allow: true } or { allow: false, reason }, with conceal: true to conceal',
        ),
      )
      expect(await forge.pins.list('system', issue)).toEqual([])
    })
  })
})

test.each([
  [{ allow: false, reason: 'no' }, 'FORBIDDEN'],
  [{ allow: false, reason: 'no', conceal: false }, 'FORBIDDEN'],
  [{ allow: false, reason: 'no', conceal: undefined }, 'FORBIDDEN'],
  [{ allow: false, reason: 'no', conceal: true }, 'REPOSITORY_NOT_FOUND'],
] as const)('%j is %s', async (decision, code) => {
  expect(await codeOf(() => guarded(decision).forge.pins.list(olga, issue))).toBe(code)
})

test('an unknown action that the policy conceals is a TypeError', async () => {
  const { forge } = guarded({ allow: false, reason: 'no', conceal: true })
  const request = { action: 'wiki.write' } as unknown as AccessRequest
  await expect(forge.authorize(olga, request)).rejects.toThrow(new TypeError('unknown action "wiki.write"'))
})

test('calls that have ended leave no listener on the signal of their caller', async () => {
  const { signal } = new AbortController()
  const no = { allow: false, reason: 'no' } as const
  const later = [async () => no, async () => Promise.reject(new Error('the database is away'))]
  for (const authorize of later) {
    const { pins } = aForge({ policy: { authorize } })
    await expect(pins.list(olga, issue, { signal })).rejects.toThrow(Error)
  }
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
