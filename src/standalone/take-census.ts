import type { Id } from '../index.ts'
import type { Account, Census, Collaborator, CollaboratorRole, Issue, Label, Member, Repository } from './census.ts'
import type {
  Fixture,
  FixtureIssue,
  FixtureLabel,
  FixtureOrganization,
  FixtureRepository,
  FixtureUser,
} from './fixture.ts'
import { foldName } from './fold-name.ts'
import { tokenDigest } from './token-digest.ts'

/**
 * Gives everyone and everything in a fixture an id, in the order of the fixture, from 1 up.
 *
 * @param fixture - a fixture that `parseFixture` has passed
 * @param now - the time of creation where the fixture names none
 */
export function takeCensus(fixture: Fixture, now: Date): Census {
  const users = (fixture.users ?? []).map((user, at) => userAccount(user, String(at + 1), now))
  const firstOrganization = users.length + 1
  const organizations = (fixture.organizations ?? []).map((organization, at) =>
    organizationAccount(organization, String(firstOrganization + at), now),
  )
  const ids = new Ids([...users, ...organizations])
  const plots = survey(fixture.repositories ?? [], ids, now)

  return {
    accounts: [...users, ...organizations],
    tokens: (fixture.users ?? []).flatMap((user) =>
      (user.tokens ?? []).map((token) => ({ digest: tokenDigest(token), userId: ids.of(user.username) })),
    ),
    members: (fixture.organizations ?? []).flatMap((organization) => membersOf(organization, ids)),
    repositories: plots.map((plot) => plot.repository),
    collaborators: plots.flatMap((plot) => collaboratorsOf(plot, ids)),
    labels: plots.flatMap((plot) => plot.labels),
    issues: plots.flatMap((plot) => plot.issues),
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
    pins: plots.flatMap(pinsOf),
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

/** A repository of the fixture with everything on its ground. */
interface Plot {
  readonly fixture: FixtureRepository
  readonly repository: Repository
  readonly labels: readonly Label[]
  readonly issues: readonly Issue[]
}

function survey(repositories: readonly FixtureRepository[], ids: Ids, now: Date): readonly Plot[] {
  const plots: Plot[] = []
  let labelCount = 0
  let issueCount = 0
  for (const fixture of repositories) {
    const repository = repositoryOf(fixture, String(plots.length + 1), ids, now)
    const labels = (fixture.labels ?? []).map((label) => labelOf(label, String(++labelCount), repository.id))
    const ground = { repositoryId: repository.id, labels, ids, now: repository.createdAt }
    const issues = (fixture.issues ?? []).map((issue) => issueOf(issue, String(++issueCount), ground))
    plots.push({ fixture, repository, labels, issues })
  }
  return plots
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

function issueOf(issue: FixtureIssue, id: Id, ground: Ground): Issue {
  const createdAt = timeOf(issue.createdAt, ground.now)
  const updatedAt = timeOf(issue.updatedAt, createdAt)
  const labels = new Map(ground.labels.map((label) => [foldName(label.name), label.id]))
  return {
    id,
    repositoryId: ground.repositoryId,
    index: issue.index,
    kind: issue.pull === true ? 'pullRequest' : 'issue',
    title: issue.title,
    body: issue.body ?? '',
    posterId: ground.ids.of(issue.poster),
    state: issue.state ?? 'open',
    isLocked: issue.locked ?? false,
    branch: issue.pull === true ? (issue.branch ?? `patch-${issue.index}`) : '',
    commentCount: issue.comments ?? 0,
    createdAt,
    updatedAt,
    closedAt: issue.state === 'closed' ? timeOf(issue.closedAt, updatedAt) : null,
    labelIds: [...new Set((issue.labels ?? []).flatMap((name) => labels.get(foldName(name)) ?? []))],
    assigneeIds: ground.ids.all(issue.assignees),
  }
}

/** Weakest first: a later role takes the place of an earlier one. */
const ROLES: readonly (readonly [CollaboratorRole, 'readers' | 'writers' | 'admins'])[] = [
  ['reader', 'readers'],
  ['writer', 'writers'],
  ['admin', 'admins'],
]

function collaboratorsOf(plot: Plot, ids: Ids): readonly Collaborator[] {
  const roles = new Map(ROLES.flatMap(([role, list]) => ids.all(plot.fixture[list]).map((id) => [id, role] as const)))
  return [...roles].map(([userId, role]) => ({ repositoryId: plot.repository.id, userId, role }))
}

function pinsOf(plot: Plot): Census['pins'] {
  const issues = new Map(plot.issues.map((issue) => [issue.index, issue]))
  return (plot.fixture.pins ?? []).flatMap((index) => issues.get(index) ?? [])
}

function timeOf(text: string | undefined, otherwise: Date): Date {
  return text === undefined ? otherwise : new Date(text)
}
