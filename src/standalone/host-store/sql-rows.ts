import type { Id, PinKind } from '../../index.ts'
import type { FixtureVisibility } from '../fixture/fixture.ts'
import type { Account, Issue, Label, Repository } from '../fixture/seed.ts'

/** One row of `host_accounts`. */
export interface AccountRow {
  readonly id: number
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

/** The columns of `AccountRow`. */
export const ACCOUNT_COLUMNS =
  'id, kind, name, full_name, email, hides_email, is_site_admin, visibility, location, website, description, created_at'

/** Converts a row to an account. */
export function accountOf(row: AccountRow): Account {
  const { kind, name, email, visibility, location, website, description } = row
  return {
    id: String(row.id),
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

/** One row of `host_repositories`. */
export interface RepositoryRow {
  readonly id: number
  readonly owner_id: number
  readonly name: string
  readonly description: string
  readonly is_private: number
  readonly is_archived: number
  readonly default_branch: string
  readonly created_at: number
}

/** The columns of `RepositoryRow`. */
export const REPOSITORY_COLUMNS = 'id, owner_id, name, description, is_private, is_archived, default_branch, created_at'

/** Converts a row to a repository. */
export function repositoryOf(row: RepositoryRow): Repository {
  return {
    id: String(row.id),
    ownerId: String(row.owner_id),
    name: row.name,
    description: row.description,
    isPrivate: row.is_private === 1,
    isArchived: row.is_archived === 1,
    defaultBranch: row.default_branch,
    createdAt: new Date(row.created_at),
  }
}

/** One row of `host_labels`. */
export interface LabelRow {
  readonly id: number
  readonly repository_id: number
  readonly name: string
  readonly color: string
  readonly description: string
}

/** Converts a row to a label. */
export function labelOf({ id, repository_id, name, color, description }: LabelRow): Label {
  return { id: String(id), repositoryId: String(repository_id), name, color, description }
}

/** One row of `host_issues`. */
export interface IssueRow {
  readonly id: number
  readonly repository_id: number
  readonly issue_index: number
  readonly kind: PinKind
  readonly title: string
  readonly body: string
  readonly poster_id: number
  readonly state: 'open' | 'closed'
  readonly is_locked: number
  readonly branch: string
  readonly comment_count: number
  readonly created_at: number
  readonly updated_at: number
  readonly closed_at: number | null
}

/** The columns of `IssueRow`. */
export const ISSUE_COLUMNS =
  'id, repository_id, issue_index, kind, title, body, poster_id, state, is_locked, branch, comment_count, created_at, updated_at, closed_at'

/** Converts a row, and the ids from the related tables, to an issue. */
export function issueOf(row: IssueRow, labelIds: readonly Id[], assigneeIds: readonly Id[]): Issue {
  const { kind, title, body, state, branch } = row
  return {
    id: String(row.id),
    repositoryId: String(row.repository_id),
    index: row.issue_index,
    kind,
    title,
    body,
    posterId: String(row.poster_id),
    state,
    isLocked: row.is_locked === 1,
    branch,
    commentCount: row.comment_count,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    closedAt: row.closed_at === null ? null : new Date(row.closed_at),
    labelIds,
    assigneeIds,
  }
}
