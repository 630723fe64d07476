import { describe, expect, test } from 'vitest'
import type { AccessRequest, OrganizationRole, RepositoryRole, Verdict } from '../../../src/index.ts'
import { rolePolicy } from '../../../src/index.ts'

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

function word(verdict: unknown): string {
  const { allow, conceal } = verdict as Verdict & { readonly conceal?: boolean }
  if (allow) return 'allowed'
  return conceal === true ? 'concealed' : 'refused'
}

const repositories: readonly [AccessRequest['action'], Readonly<Record<RepositoryRole, string>>][] = [
  ['pins.read', { admin: 'allowed', writer: 'allowed', reader: 'allowed', none: 'concealed' }],
  ['pins.write', { admin: 'allowed', writer: 'refused', reader: 'refused', none: 'concealed' }],
  ['signing-keys.read', { admin: 'allowed', writer: 'allowed', reader: 'allowed', none: 'concealed' }],
  ['issues.export', { admin: 'allowed', writer: 'allowed', reader: 'allowed', none: 'concealed' }],
  ['issues.import', { admin: 'allowed', writer: 'refused', reader: 'refused', none: 'concealed' }],
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
]

function requestOf(action: AccessRequest['action']): AccessRequest {
  return { action, organizationId, repositoryId, userId: '9' } as AccessRequest
}

describe.each(repositories)('%s', (action, verdicts) => {
  test.each(['admin', 'writer', 'reader', 'none'] as const)('to a repository %s', (repository) => {
    expect(word(judge(requestOf(action), { repository }))).toBe(verdicts[repository])
  })
})

describe.each(organizations)('%s', (action, verdicts) => {
  test.each(['owner', 'member', 'stranger', 'none'] as const)('to an organization %s', (organization) => {
    expect(word(judge(requestOf(action), { organization }))).toBe(verdicts[organization])
  })
})

describe.each(siteAdminsOnly)('%s', (action) => {
  test('is refused to whoever is no site admin', () => {
    expect(word(judge(requestOf(action), { repository: 'admin', organization: 'owner' }))).toBe('refused')
  })
})

test.each([...repositories.map(([action]) => action), ...organizations.map(([action]) => action), ...siteAdminsOnly])(
  '%s is allowed to a site admin',
  (action) => {
    expect(word(judge(requestOf(action), { siteAdmin: true }))).toBe('allowed')
  },
)

test.each([
  ['pins.write', 'refused'],
  ['issues.import', 'refused'],
  ['blocks.read', 'refused'],
  ['blocks.write', 'refused'],
  ['pins.read', 'allowed'],
] as const)('%s is %s to nobody, whatever role the host gives', (action, verdict) => {
  const policy = rolePolicy({
    isSiteAdmin: () => true,
    repositoryRole: () => 'admin',
    organizationRole: () => 'owner',
  })
  expect(word(policy.authorize(requestOf(action), { actor: 'anonymous' }))).toBe(verdict)
})

test('an action it does not know is refused', () => {
  expect(word(judge({ action: 'wiki.write' } as unknown as AccessRequest, { repository: 'admin' }))).toBe('refused')
})

test('facts that take time make a verdict that takes time', async () => {
  const policy = rolePolicy({
    isSiteAdmin: async () => false,
    repositoryRole: async () => 'admin' as const,
    organizationRole: async () => 'none' as const,
  })
  expect(await policy.authorize(requestOf('pins.write'), { actor: person })).toEqual({ allow: true })
})
