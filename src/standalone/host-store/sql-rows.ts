import type { Id, PinKind } from '../../index.ts'
import type { FixtureVisibility } from '../fixture/fixture.ts'
import type { Account, CollaboratorRole, Issue, Label, Repository } from '../fixture/seed.ts'
import type { IssueDetails, Milestone, OrganizationAccess, RepositoryAccess } from './host-store.ts'

/** One row of the accounts. */
export interface AccountRow {
  readonly id: Id
  readonly kind: 'user' | 'organization'
  readonly name: string
  readonly full_name: string
  readonly email: string
  readonly hides_email: number
  readonly is_site_admin: number
  readonly visibility: FixtureVisibility
  readonly location: string
  readonly website: string
  readonly description: string
  readonly created_at: number
}

/** Converts a row to an account. */
export function accountOf(row: AccountRow): Account {
  const { id, kind, name, email, visibility, location, website, description } = row
  return {
    id,
    kind,
    name,
    fullName: row.full_name,
    email,
    hideEmail: row.hides_email === 1,
    siteAdmin: row.is_site_admin === 1,
    visibility,
    location,
    website,
    description,
    createdAt: new Date(row.created_at),
  }
}

/** One row of the repositories, with what is open in it. */
export interface RepositoryRow {
  readonly id: Id
  readonly owner_id: Id
  readonly name: string
  readonly description: string
  readonly is_private: number
  readonly is_archived: number
  readonly default_branch: string
  readonly created_at: number
  readonly open_issues: number
  readonly open_pull_requests: number
}

/** Converts a row to a repository. */
export function repositoryOf(row: RepositoryRow): Repository {
  return {
    id: row.id,
    ownerId: row.owner_id,
    name: row.name,
    description: row.description,
    isPrivate: row.is_private === 1,
    isArchived: row.is_archived === 1,
    defaultBranch: row.default_branch,
    createdAt: new Date(row.created_at),
  }
}

/** One label of an issue. */
export interface LabelRow {
  readonly issue_id: Id
  readonly id: Id
  readonly repository_id: Id
  readonly name: string
  readonly color: string
  readonly description: string
}

/** Converts a row to a label. */
export function labelOf({ id, repository_id, name, color, description }: LabelRow): Label {
  return { id, repositoryId: repository_id, name, color, description }
}

/** One assignee of an issue. */
export interface AssigneeRow {
  readonly issue_id: Id
  readonly user_id: Id
}

/** One row of the issues. */
export interface IssueRow {
  readonly id: Id
  readonly repository_id: Id
  readonly issue_index: number
  readonly kind: PinKind
  readonly title: string
  readonly body: string
  readonly poster_id: Id
  readonly state: 'open' | 'closed'
  readonly is_locked: number
  readonly branch: string
  readonly ref: string
  readonly milestone_id: Id | null
  readonly author_id: number | null
  readonly author_name: string | null
  readonly poster_is_author: number
  readonly comment_count: number
  readonly created_at: number
  readonly updated_at: number
  readonly closed_at: number | null
}

/** Converts a row, and the ids from the related tables, to an issue. */
export function issueOf(row: IssueRow, labelIds: readonly Id[], assigneeIds: readonly Id[]): Issue {
  const { id, kind, title, body, state, branch, ref } = row
  return {
    id,
    repositoryId: row.repository_id,
    index: row.issue_index,
    kind,
    title,
    body,
    posterId: row.poster_id,
    state,
    isLocked: row.is_locked === 1,
    branch,
    ref,
    commentCount: row.comment_count,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    closedAt: dateOrNull(row.closed_at),
    labelIds,
    assigneeIds,
  }
}

/** Returns who the document names as the author of an imported issue, if the author has no account here. */
export function originalAuthorOf({
  author_id,
  author_name,
  poster_is_author,
}: IssueRow): IssueDetails['originalAuthor'] {
  if (poster_is_author === 1 || author_id === null || author_name === null) return undefined
  return { id: author_id, name: author_name }
}

/** One milestone of the issues on a page, with how many issues it has. */
export interface ShownMilestoneRow {
  readonly id: Id
  readonly title: string
  readonly description: string
  readonly state: 'open' | 'closed'
  readonly deadline: number | null
  readonly created_at: number | null
  readonly updated_at: number | null
  readonly closed_at: number | null
  readonly open_issues: number
  readonly closed_issues: number
}

/** Converts a row to a milestone. */
export function milestoneOf(row: ShownMilestoneRow): Milestone {
  const { id, title, description, state } = row
  return {
    id,
    title,
    description,
    state,
    deadline: dateOrNull(row.deadline),
    createdAt: dateOrNull(row.created_at),
    updatedAt: dateOrNull(row.updated_at),
    closedAt: dateOrNull(row.closed_at),
    openIssues: row.open_issues,
    closedIssues: row.closed_issues,
  }
}

function dateOrNull(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds)
}

/** What a user is to an organization. */
export interface OrganizationStandingRow {
  /** Null for an anonymous caller. */
  readonly is_site_admin: number | null
  /** Null if the organization does not exist. */
  readonly visibility: FixtureVisibility | null
  readonly role: 'owner' | 'member' | null
}

/** Converts a row to what the user is. */
export function organizationAccess({ visibility, role }: OrganizationStandingRow): OrganizationAccess | undefined {
  return visibility === null ? undefined : { visibility, membership: role ?? undefined }
}

/** What a user is to a repository. */
export interface RepositoryStandingRow {
  /** Null for an anonymous caller. */
  readonly is_site_admin: number | null
  readonly is_private: number | null
  readonly owner_id: Id | null
  /** Of the owner; null if the repository does not exist. */
  readonly visibility: FixtureVisibility | null
  readonly role: 'owner' | 'member' | null
  readonly collaboration: CollaboratorRole | null
}

/** Converts a row to what the user is. */
export function repositoryAccess(row: RepositoryStandingRow, userId: Id | undefined): RepositoryAccess | undefined {
  if (row.visibility === null) return undefined
  return {
    isPrivate: row.is_private === 1,
    ownerVisibility: row.visibility,
    isOwner: row.owner_id === userId,
    membership: row.role ?? undefined,
    collaboration: row.collaboration ?? undefined,
  }
}
