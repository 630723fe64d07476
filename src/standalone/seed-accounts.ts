import type { Id } from '../index.ts'
import type { FixtureOrganization, FixtureUser } from './fixture.ts'
import type { FixtureIds } from './fixture-ids.ts'
import { timeOf } from './fixture-time.ts'
import { foldName } from './fold-name.ts'
import type { Account, Member } from './seed.ts'

/** A user of the fixture. @param now - the time of creation where the fixture names none */
export function userAccount(user: FixtureUser, id: Id, now: Date): Account {
  return {
    id,
    kind: 'user',
    name: user.username,
    fullName: user.fullName ?? '',
    email: user.email ?? `${foldName(user.username)}@example.com`,
    hideEmail: user.hideEmail ?? false,
    siteAdmin: user.siteAdmin ?? false,
    visibility: user.visibility ?? 'public',
    location: user.location ?? '',
    website: user.website ?? '',
    description: user.description ?? '',
    createdAt: timeOf(user.createdAt, now),
  }
}

/** An organization of the fixture. @param now - the time of creation where the fixture names none */
export function organizationAccount(organization: FixtureOrganization, id: Id, now: Date): Account {
  return {
    id,
    kind: 'organization',
    name: organization.name,
    fullName: organization.fullName ?? '',
    email: '',
    hideEmail: false,
    siteAdmin: false,
    visibility: organization.visibility ?? 'public',
    location: '',
    website: '',
    description: organization.description ?? '',
    createdAt: timeOf(organization.createdAt, now),
  }
}

/** Who belongs to an organization; an owner is a member once. */
export function membersOf(organization: FixtureOrganization, ids: FixtureIds): readonly Member[] {
  const organizationId = ids.of(organization.name)
  const owners = ids.all(organization.owners)
  const members = ids.all(organization.members).filter((id) => !owners.includes(id))
  return [
    ...owners.map((userId) => ({ organizationId, userId, role: 'owner' as const })),
    ...members.map((userId) => ({ organizationId, userId, role: 'member' as const })),
  ]
}
