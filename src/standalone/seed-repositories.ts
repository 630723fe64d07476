import type { Id } from '../index.ts'
import type { FixtureIssue, FixtureLabel, FixtureRepository } from './fixture.ts'
import type { FixtureIds } from './fixture-ids.ts'
import { timeOf } from './fixture-time.ts'
import { foldName } from './fold-name.ts'
import type { Collaborator, CollaboratorRole, Issue, Label, Repository, Seed } from './seed.ts'

/** A repository of the fixture with everything in it. */
export interface SeededRepository {
  readonly fixture: FixtureRepository
  readonly repository: Repository
  readonly labels: readonly Label[]
  readonly issues: readonly Issue[]
}

/** The repositories of the fixture, their labels and issues, each with an id from 1 up. */
export function seedRepositories(
  fixtures: readonly FixtureRepository[],
  ids: FixtureIds,
  now: Date,
): readonly SeededRepository[] {
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

function repositoryOf(fixture: FixtureRepository, id: Id, ids: FixtureIds, now: Date): Repository {
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

/** What an issue stands in. */
interface Place {
  readonly repositoryId: Id
  readonly labels: readonly Label[]
  readonly ids: FixtureIds
  readonly now: Date
}

function issueOf(issue: FixtureIssue, id: Id, place: Place): Issue {
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

/** Who has which role in a repository; who stands in two lists has the higher one. */
export function collaboratorsOf(seeded: SeededRepository, ids: FixtureIds): readonly Collaborator[] {
  const roles = new Map(ROLES.flatMap(([role, list]) => ids.all(seeded.fixture[list]).map((id) => [id, role] as const)))
  return [...roles].map(([userId, role]) => ({ repositoryId: seeded.repository.id, userId, role }))
}

/** The issues that are to be pinned, first position first. */
export function pinsOf(seeded: SeededRepository): Seed['pins'] {
  const issues = new Map(seeded.issues.map((issue) => [issue.index, issue]))
  return (seeded.fixture.pins ?? []).flatMap((index) => issues.get(index) ?? [])
}
