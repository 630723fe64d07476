import { describe, expect, test } from 'vitest'
import type { AccessDecision, AccessRequest, OrganizationRole, RepositoryRole } from '../../../src/index.ts'
import { rolePolicy } from '../../../src/index.ts'
import { actionFacts } from '../../../src/schema/access.ts'

const person = { id: 1 }
const organizationId = '5'
const repositoryId = '10'

function judge(
  request: AccessRequest,
  role: {
    readonly repository?: RepositoryRole
    readonly organization?: OrganizationRole
    readonly siteAdmin?: boolean
  },
): unknown {
  const policy = rolePolicy({
    isSiteAdmin: () => role.siteAdmin ?? false,
    repositoryRole: () => role.repository ?? 'none',
    organizationRole: () => role.organization ?? 'none',
  })
  return policy.authorize(request, { actor: person })
}

function nameOf(decision: unknown): string {
  const { allow, conceal } = decision as AccessDecision & { readonly conceal?: boolean }
  if (allow) return 'allowed'
  return conceal === true ? 'concealed' : 'refused'
}

const repositories: readonly [AccessRequest['action'], Readonly<Record<RepositoryRole, string>>][] = [
  ['pins.read', { admin: 'allowed', writer: 'allowed', reader: 'allowed', none: 'concealed' }],
  ['pins.write', { admin: 'allowed', writer: 'refused', reader: 'refused', none: 'concealed' }],
  ['issues.export', { admin: 'allowed', writer: 'allowed', reader: 'allowed', none: 'concealed' }],
  ['issues.import', { admin: 'allowed', writer: 'refused', reader: 'refused', none: 'concealed' }],
  ['signing-keys.read', { admin: 'allowed', writer: 'allowed', reader: 'allowed', none: 'concealed' }],
]
const organizations: readonly [AccessRequest['action'], Readonly<Record<OrganizationRole, string>>][] = [
  ['blocks.read', { owner: 'allowed', member: 'refused', stranger: 'refused', none: 'concealed' }],
  ['blocks.write', { owner: 'allowed', member: 'refused', stranger: 'refused', none: 'concealed' }],
]
const siteAdminsOnly: readonly AccessRequest['action'][] = [
  'badges.read',
  'badges.grant',
  'badges.catalogue.read',
  'badges.catalogue.write',
  'events.read',
  'issues.attribute',
]

test('every action is in one of the lists', () => {
  const listed = [
    ...repositories.map(([action]) => action),
    ...organizations.map(([action]) => action),
    ...siteAdminsOnly,
  ]

  expect(listed.toSorted()).toEqual(Object.keys(actionFacts).toSorted())
})

function requestOf(action: AccessRequest['action']): AccessRequest {
  return { action, organizationId, repositoryId, userId: '9' } as AccessRequest
}

describe.each(repositories)('%s', (action, decisions) => {
  test.each(['admin', 'writer', 'reader', 'none'] as const)('to a repository %s', (repository) => {
    expect(nameOf(judge(requestOf(action), { repository }))).toBe(decisions[repository])
  })
})

describe.each(organizations)('%s', (action, decisions) => {
  test.each(['owner', 'member', 'stranger', 'none'] as const)('to an organization %s', (organization) => {
    expect(nameOf(judge(requestOf(action), { organization }))).toBe(decisions[organization])
  })
})

describe.each(siteAdminsOnly)('%s', (action) => {
  test('is refused to callers who are not site admins', () => {
    expect(nameOf(judge(requestOf(action), { repository: 'admin', organization: 'owner' }))).toBe('refused')
  })
})

test.each([...repositories.map(([action]) => action), ...organizations.map(([action]) => action), ...siteAdminsOnly])(
  '%s is allowed to a site admin',
  (action) => {
    expect(nameOf(judge(requestOf(action), { siteAdmin: true }))).toBe('allowed')
  },
)

test.each([
  ['pins.write', 'refused'],
  ['blocks.read', 'refused'],
  ['blocks.write', 'refused'],
  ['pins.read', 'allowed'],
] as const)('%s is %s to no one, whatever role the host assigns', (action, decision) => {
  const policy = rolePolicy({
    isSiteAdmin: () => true,
    repositoryRole: () => 'admin',
    organizationRole: () => 'owner',
  })
  expect(nameOf(policy.authorize(requestOf(action), { actor: 'anonymous' }))).toBe(decision)
})

test('an action it does not know is a TypeError, and is not decided', () => {
  const request = { action: 'wiki.write' } as unknown as AccessRequest
  expect(() => judge(request, { repository: 'admin' })).toThrow(
    new TypeError('rolePolicy has no rule for the action "wiki.write"'),
  )
})

describe('a fact that is malformed decides nothing', () => {
  const notARepositoryRole = [undefined, null, '', 'Reader', 'owner', 'none ', true, 1, {}, ['reader']]
  const notAnOrganizationRole = [undefined, null, '', 'Owner', 'admin', 'reader', true, 1, {}, ['owner']]
  const notABoolean = [undefined, null, '', 'f', 't', 'false', 0, 1, {}, []]
  const waits = [
    ['at once', (fact: unknown) => fact],
    ['later', (fact: unknown) => Promise.resolve(fact)],
  ] as const
  const actors = ['anonymous', person] as const

  /** What a policy does whose host returns these facts; JavaScript hosts may return anything. */
  async function decided(
    action: string,
    actor: (typeof actors)[number],
    facts: { readonly admin?: unknown; readonly repository?: unknown; readonly organization?: unknown },
  ): Promise<unknown> {
    const policy = rolePolicy({
      isSiteAdmin: () => ('admin' in facts ? facts.admin : false) as boolean,
      repositoryRole: () => ('repository' in facts ? facts.repository : 'admin') as RepositoryRole,
      organizationRole: () => ('organization' in facts ? facts.organization : 'owner') as OrganizationRole,
    })
    return policy.authorize(requestOf(action as AccessRequest['action']), { actor })
  }

  describe.each(waits)('%s', (_when, given) => {
    describe.each(actors)('to %o', (actor) => {
      test.each(repositories.flatMap(([action]) => notARepositoryRole.map((role) => [action, role] as const)))(
        '%s with the repository role %j is a TypeError',
        async (action, role) => {
          await expect(decided(action, actor, { repository: given(role) })).rejects.toThrow(
            /^repositoryRole must return 'admin', 'writer', 'reader' or 'none'; it returned /,
          )
        },
      )

      test.each(organizations.flatMap(([action]) => notAnOrganizationRole.map((role) => [action, role] as const)))(
        '%s with the organization role %j is a TypeError',
        async (action, role) => {
          await expect(decided(action, actor, { organization: given(role) })).rejects.toThrow(
            /^organizationRole must return 'owner', 'member', 'stranger' or 'none'; it returned /,
          )
        },
      )
    })

    test.each(
      [...repositories, ...organizations, ...siteAdminsOnly.map((action) => [action] as const)].flatMap(([action]) =>
        notABoolean.map((admin) => [action, admin] as const),
      ),
    )('%s with isSiteAdmin %j is a TypeError', async (action, admin) => {
      await expect(decided(action, person, { admin: given(admin) })).rejects.toThrow(
        /^isSiteAdmin must return true or false; it returned /,
      )
    })
  })

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['"Reader"', 'Reader'],
    ['an object', {}],
    ['a number', 7],
    ['a string of 2000 characters', 'x'.repeat(2000)],
  ])('the error names %s', async (name, role) => {
    await expect(decided('pins.read', person, { repository: role })).rejects.toThrow(
      `repositoryRole must return 'admin', 'writer', 'reader' or 'none'; it returned ${name}`,
    )
  })

  test('a rejected fact rejects', async () => {
    const failure = new Error('the database is away')
    await expect(decided('pins.read', 'anonymous', { repository: Promise.reject(failure) })).rejects.toBe(failure)
  })
})

describe('rolePolicy', () => {
  const roles = { isSiteAdmin: () => false, repositoryRole: () => 'none', organizationRole: () => 'none' }

  test.each(Object.keys(roles).flatMap((name) => [undefined, null, true, 'admin', {}].map((one) => [name, one])))(
    'refuses %s: %j',
    (name, value) => {
      expect(() => Reflect.apply(rolePolicy, undefined, [{ ...roles, [String(name)]: value }])).toThrow(
        new RegExp(`^rolePolicy needs ${name}: a function `),
      )
    },
  )

  test.each([[], [undefined], [null], ['roles'], [{}]])('refuses %j', (...given) => {
    expect(() => Reflect.apply(rolePolicy, undefined, given)).toThrow(TypeError)
    expect(() => Reflect.apply(rolePolicy, undefined, given)).toThrow('rolePolicy needs isSiteAdmin: a function ')
  })

  test('calls the facts as methods of the object that has them', () => {
    class Facts {
      readonly #role = 'reader' as const
      isSiteAdmin(): boolean {
        return this.#role === undefined
      }
      repositoryRole(): RepositoryRole {
        return this.#role
      }
      organizationRole(): OrganizationRole {
        return 'none'
      }
    }
    expect(rolePolicy(new Facts()).authorize(requestOf('pins.read'), { actor: person })).toEqual({ allow: true })
  })
})

test('facts that take time make a decision that takes time', async () => {
  const policy = rolePolicy({
    isSiteAdmin: async () => false,
    repositoryRole: async () => 'admin' as const,
    organizationRole: async () => 'none' as const,
  })
  expect(await policy.authorize(requestOf('pins.write'), { actor: person })).toEqual({ allow: true })
})
