import { describe, expect, test } from 'vitest'
import type { AccessDecision, AccessRequest, Actor, OrganizationRole, RepositoryRole } from '../../src/index.ts'
import { rolePolicy } from '../../src/index.ts'
import { actionFacts } from '../../src/schema/records.ts'
import type { RouteRule } from '../http-adapters/access-rules.ts'
import { RULES } from '../services.ts'

type Action = AccessRequest['action']

const person = { id: 1 }

/** What the functions of a host return. Hosts in JavaScript may return anything. */
interface Facts {
  readonly isSiteAdmin?: unknown
  readonly repositoryRole?: unknown
  readonly organizationRole?: unknown
  /** Who asks. The requests about one user are about the user 9. */
  readonly actor?: Actor
}

/** The decision about an action of a host that gives no one a role, but for what is given. */
function decided(action: Action, facts: Facts, actor: Actor | 'anonymous' = facts.actor ?? person) {
  const all = { isSiteAdmin: false, repositoryRole: 'none', organizationRole: 'none', ...facts }
  const policy = rolePolicy({
    isSiteAdmin: () => all.isSiteAdmin as boolean,
    repositoryRole: () => all.repositoryRole as RepositoryRole,
    organizationRole: () => all.organizationRole as OrganizationRole,
  })
  return policy.authorize(requestOf(action), { actor, transaction: undefined })
}

function requestOf(action: Action): AccessRequest {
  return { action, organizationId: '5', repositoryId: '10', userId: '9' } as AccessRequest // each has the object it names
}

function nameOf(decision: unknown): string {
  const { allow, conceal } = decision as AccessDecision & { readonly conceal?: boolean }
  if (allow) return 'allowed'
  return conceal === true ? 'concealed' : 'refused'
}

/** A role that an action can take. */
type LeastRole = Exclude<RouteRule['needs'], 'nothing'>

/** The least role of each action: as in the access table, and of those that no route asks for. */
const LEAST_ROLES = Object.entries({
  ...Object.fromEntries(Object.values(RULES).map(({ asks, needs }) => [asks, needs])),
  'badges.catalogue.read': 'site admin',
  'badges.catalogue.write': 'site admin',
  'events.read': 'site admin',
  'issues.attribute': 'site admin',
}).filter((entry): entry is [Action, LeastRole] => entry[0] in actionFacts)
const actions = LEAST_ROLES.map(([action]) => action)

const REPOSITORY_ROLES = ['admin', 'writer', 'reader', 'none'].map((repositoryRole) => ({
  repositoryRole,
  organizationRole: 'owner',
}))
const ORGANIZATION_ROLES = ['owner', 'member', 'stranger', 'none'].map((organizationRole) => ({
  organizationRole,
  repositoryRole: 'admin',
}))
/** What callers learn who have each of these roles, by the least role of the action. */
const DECISIONS: Readonly<Record<LeastRole, readonly [roles: readonly Facts[], decisions: string]>> = {
  'repository reader': [REPOSITORY_ROLES, 'allowed allowed allowed concealed'],
  'repository admin': [REPOSITORY_ROLES, 'allowed refused refused concealed'],
  'organization owner': [ORGANIZATION_ROLES, 'allowed refused refused concealed'],
  'the user': [[{ repositoryRole: 'admin', organizationRole: 'owner' }, { actor: { id: 9 } }], 'refused allowed'],
  'site admin': [[{ repositoryRole: 'admin', organizationRole: 'owner', actor: { id: 9 } }], 'refused'],
}

/** The actions about which the policy asks for one of these roles. */
const asking = (roles: readonly Facts[]): readonly Action[] =>
  LEAST_ROLES.filter(([, least]) => DECISIONS[least][0] === roles).map(([action]) => action)

test('every action is in the list', () => {
  const advice = 'each action is in the rule of a route in test/services/, or in LEAST_ROLES if no route asks for it'
  expect(actions.toSorted(), advice).toEqual(Object.keys(actionFacts).toSorted())
})

describe.each(LEAST_ROLES)('%s', (action, least) => {
  const [roles, decisions] = DECISIONS[least]

  test(`takes the role ${least}`, () => {
    expect(roles.map((facts) => nameOf(decided(action, facts))).join(' ')).toBe(decisions)
  })

  test('is allowed to a site admin', () => {
    expect(nameOf(decided(action, { isSiteAdmin: true }))).toBe('allowed')
  })

  test('is allowed to no one at most for reading, whatever role the host assigns', () => {
    const every = { isSiteAdmin: true, repositoryRole: 'admin', organizationRole: 'owner' }
    expect(nameOf(decided(action, every, 'anonymous'))).toBe(least === 'repository reader' ? 'allowed' : 'refused')
  })
})

test('an action it does not know is a TypeError, and is not decided', () => {
  expect(() => decided('wiki.write' as Action, { repositoryRole: 'admin' })).toThrow(
    new TypeError('rolePolicy has no rule for the action "wiki.write"'),
  )
})

test.each([
  ['pins.read', 'repositoryId'],
  ['blocks.read', 'organizationId'],
  ['user-blocks.read', 'userId'],
] as const)('a request for %s without %s is a TypeError, and is not decided', (action, id) => {
  const policy = rolePolicy({
    isSiteAdmin: () => false,
    repositoryRole: () => 'admin',
    organizationRole: () => 'owner',
  })
  const request = { ...requestOf(action), [id]: undefined } as AccessRequest
  const message = `the action "${action}" needs the property ${id}`
  expect(() => policy.authorize(request, { actor: person, transaction: undefined })).toThrow(new TypeError(message))
})

describe('a fact that is malformed decides nothing', () => {
  const noRole = [undefined, null, '', 'Reader', 'none ', true, 1, {}]
  const cases = [
    ...asking(REPOSITORY_ROLES).map((action) => [action, 'repositoryRole', [...noRole, 'owner', ['reader']]] as const),
    ...asking(ORGANIZATION_ROLES).map(
      (action) => [action, 'organizationRole', [...noRole, 'admin', ['owner']]] as const,
    ),
    ...actions.map(
      (action) => [action, 'isSiteAdmin', [undefined, null, '', 'f', 't', 'false', 0, 1, {}, []]] as const,
    ),
  ]

  test.each(cases)('%s is a TypeError with a %s that is none, at once or later', async (action, name, facts) => {
    const malformed = new RegExp(`^${name} must return .+; it returned `)
    for (const actor of name === 'isSiteAdmin' ? [person] : ([person, 'anonymous'] as const)) {
      for (const fact of facts) {
        const later = decided(action, { [name]: Promise.resolve(fact) }, actor)
        expect(() => decided(action, { [name]: fact }, actor), JSON.stringify(fact)).toThrow(malformed)
        await expect(later, JSON.stringify(fact)).rejects.toThrow(malformed)
      }
    }
  })

  test.each([
    ['undefined', undefined],
    ['"Reader"', 'Reader'],
    ['object', {}],
    [`"${'x'.repeat(40)}"`, 'x'.repeat(2000)],
  ])('the error names %s', (name, repositoryRole) => {
    expect(() => decided('pins.read', { repositoryRole })).toThrow(
      `repositoryRole must return 'admin' or 'writer' or 'reader' or 'none'; it returned ${name}`,
    )
  })
})

describe('rolePolicy', () => {
  const roles = { isSiteAdmin: () => false, repositoryRole: () => 'none', organizationRole: () => 'none' }

  test.each(Object.keys(roles))('refuses a %s that is no function', (name) => {
    for (const value of [undefined, null, true, 'admin', {}]) {
      expect(() => Reflect.apply(rolePolicy, undefined, [{ ...roles, [name]: value }])).toThrow(
        new RegExp(`^rolePolicy needs ${name}: a function `),
      )
    }
  })

  test('takes facts that take time, and its decision takes time', async () => {
    const [isSiteAdmin, repositoryRole] = [Promise.resolve(false), Promise.resolve('admin')]
    const decision = decided('pins.write', { isSiteAdmin, repositoryRole })

    expect(decision).toBeInstanceOf(Promise)
    expect(await decision).toEqual({ allow: true })
  })
})
