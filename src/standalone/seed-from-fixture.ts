import type { Id } from '../index.ts'
import type {
  Fixture,
  FixtureIssue,
  FixtureLabel,
  FixtureOrganization,
  FixtureRepository,
  FixtureUser,
} from './fixture.ts'
import { foldName } from './fold-name.ts'
import type { Account, Collaborator, CollaboratorRole, Issue, Label, Member, Repository, Seed } from './seed.ts'
import { tokenDigest } from './token-digest.ts'

/**
 * Gives everyone and everything in a fixture an id, in the order of the fixture, from 1 up.
 *
 * @param fixture - a fixture that `parseFixture` has passed
 * @param now - the time of creation where the fixture names none
 */
export function seedFromFixture(fixture: Fixture, now: Date): Seed {
  const users = (fixture.users ?? []).map((user, at) => userAccount(user, String(at + 1), now))
  const firstOrganization = users.length + 1
  const organizations = (fixture.organizations ?? []).map((organization, at) =>
    organizationAccount(organization, String(firstOrganization + at), now),
  )
  const ids = new Ids([...users, ...organizations])
  const repositories = seedRepositories(fixture.repositories ?? [], ids, now)

  return {
    accounts: [...users, ...organizations],
    tokens: (fixture.users ?? []).flatMap((user) =>
      (user.tokens ?? []).map((token) => ({ digest: tokenDigest(token), userId: ids.of(user.username) })),
    ),
    members: (fixture.organizations ?? []).flatMap((organization) => membersOf(organization, ids)),
    repositories: repositories.map((seeded) => seeded.repository),
    collaborators: repositories.flatMap((seeded) => collaboratorsOf(seeded, ids)),
    labels: repositories.flatMap((seeded) => seeded.labels),
    issues: repositories.flatMap((seeded) => seeded.issues),
    badges: (fixture.badges ?? []).map((badge) => ({
      slug: badge.slug,
      description: badge.description ?? '',
      imageUrl: badge.imageUrl ?? '',
      holderIds: ids.all(badge.holders),
    })),
    blocks: (fixture.organizations ?? []).flatMap((organization) =>
      (organization.blocks ?? []).map((block) => ({
        organizationId: ids.of(organization.name),
        userId: ids.of(block.user),
        note: block.note ?? '',
      })),
    ),
    pins: repositories.flatMap(pinsOf),
  }
}

/** Names to ids. */
class Ids {
  readonly #ids: ReadonlyMap<string, Id>

  constructor(accounts: readonly { readonly name: string; readonly id: Id }[]) {
    this.#ids = new Map(accounts.map((account) => [foldName(account.name), account.id]))
  }

  of(name: string): Id {
    const id = this.#ids.get(foldName(name))
    if (id === undefined) throw new TypeError(`"${name}" is not a name of this fixture; check it with parseFixture`)
    return id
  }

  all(names: readonly string[] | undefined): readonly Id[] {
    return [...new Set((names ?? []).map((name) => this.of(name)))]
  }
}

function userAccount(user: FixtureUser, id: Id, now: Date): Account {
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

function organizationAccount(organization: FixtureOrganization, id: Id, now: Date): Account {
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

function membersOf(organization: FixtureOrganization, ids: Ids): readonly Member[] {
  const organizationId = ids.of(organization.name)
  const owners = ids.all(organization.owners)
  const members = ids.all(organization.members).filter((id) => !owners.includes(id))
  return [
    ...owners.map((userId) => ({ organizationId, userId, role: 'owner' as const })),
    ...members.map((userId) => ({ organizationId, userId, role: 'member' as const })),
  ]
}

/** A repository of the fixture with everything in it. */
interface SeededRepository {
  readonly fixture: FixtureRepository
  readonly repository: Repository
  readonly labels: readonly Label[]
  readonly issues: readonly Issue[]
}

function seedRepositories(fixtures: readonly FixtureRepository[], ids: Ids, now: Date): readonly SeededRepository[] {
  const repositories: SeededRepository[] = []
  let labelCount = 0
  let issueCount = 0
  for (const fixture of fixtures) {
    const repository = repositoryOf(fixture, String(repositories.length + 1), ids, now)
    const labels = (fixture.labels ?? []).map((label) => labelOf(label, String(++labelCount), repository.id))
    const place = { repositoryId: repository.id, labels, ids, now: repository.createdAt }
    const issues = (fixture.issues ?? []).map((issue) => issueOf(issue, String(++issueCount), place))
    repositories.push({ fixture, repository, labels, issues })
  }
  return repositories
}

function repositoryOf(fixture: FixtureRepository, id: Id, ids: Ids, now: Date): Repository {
  return {
    id,
    ownerId: ids.of(fixture.owner),
    name: fixture.name,
    description: fixture.description ?? '',
    isPrivate: fixture.private ?? false,
    isArchived: fixture.archived ?? false,
    defaultBranch: fixture.defaultBranch ?? 'main',
    createdAt: timeOf(fixture.createdAt, now),
  }
}

function labelOf(label: FixtureLabel, id: Id, repositoryId: Id): Label {
  const { name, color = 'cccccc', description = '' } = label
  return { id, repositoryId, name, color: color.toLowerCase(), description }
}

interface Ground {
  readonly repositoryId: Id
  readonly labels: readonly Label[]
  readonly ids: Ids
  readonly now: Date
}

function issueOf(issue: FixtureIssue, id: Id, place: Ground): Issue {
  const createdAt = timeOf(issue.createdAt, place.now)
  const updatedAt = timeOf(issue.updatedAt, createdAt)
  const labels = new Map(place.labels.map((label) => [foldName(label.name), label.id]))
  return {
    id,
    repositoryId: place.repositoryId,
    index: issue.index,
    kind: issue.pull === true ? 'pullRequest' : 'issue',
    title: issue.title,
    body: issue.body ?? '',
    posterId: place.ids.of(issue.poster),
    state: issue.state ?? 'open',
    isLocked: issue.locked ?? false,
    branch: issue.pull === true ? (issue.branch ?? `patch-${issue.index}`) : '',
    commentCount: issue.comments ?? 0,
    createdAt,
    updatedAt,
    closedAt: issue.state === 'closed' ? timeOf(issue.closedAt, updatedAt) : null,
    labelIds: [...new Set((issue.labels ?? []).flatMap((name) => labels.get(foldName(name)) ?? []))],
    assigneeIds: place.ids.all(issue.assignees),
  }
}

/** Weakest first: a later role takes the place of an earlier one. */
const ROLES: readonly (readonly [CollaboratorRole, 'readers' | 'writers' | 'admins'])[] = [
  ['reader', 'readers'],
  ['writer', 'writers'],
  ['admin', 'admins'],
]

function collaboratorsOf(seeded: SeededRepository, ids: Ids): readonly Collaborator[] {
  const roles = new Map(ROLES.flatMap(([role, list]) => ids.all(seeded.fixture[list]).map((id) => [id, role] as const)))
  return [...roles].map(([userId, role]) => ({ repositoryId: seeded.repository.id, userId, role }))
}

function pinsOf(seeded: SeededRepository): Seed['pins'] {
  const issues = new Map(seeded.issues.map((issue) => [issue.index, issue]))
  return (seeded.fixture.pins ?? []).flatMap((index) => issues.get(index) ?? [])
}

function timeOf(text: string | undefined, otherwise: Date): Date {
  return text === undefined ? otherwise : new Date(text)
}
