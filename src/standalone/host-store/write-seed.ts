import type { Account, Issue, Repository, Seed } from '../fixture/seed.ts'
import { normalizeName } from '../host-names.ts'
import type { SqlSession } from './sql-session.ts'

/** Writes the host's part of a seed. Runs inside the caller's transaction. */
export function writeSeed(session: SqlSession, seed: Seed): void {
  for (const account of seed.accounts) writeAccount(session, account)
  for (const { digest, userId } of seed.tokens) {
    session.insert('host_tokens', { digest, user_id: Number(userId) })
  }
  for (const { organizationId, userId, role } of seed.members) {
    session.insert('host_members', { organization_id: Number(organizationId), user_id: Number(userId), role })
  }
  for (const repository of seed.repositories) writeRepository(session, repository)
  for (const { repositoryId, userId, role } of seed.collaborators) {
    session.insert('host_collaborators', { repository_id: Number(repositoryId), user_id: Number(userId), role })
  }
  for (const { id, repositoryId, name, color, description } of seed.labels) {
    session.insert('host_labels', { id: Number(id), repository_id: Number(repositoryId), name, color, description })
  }
  for (const issue of seed.issues) writeIssue(session, issue)
}

function writeAccount(session: SqlSession, account: Account): void {
  const { kind, name, email, visibility, location, website, description } = account
  session.insert('host_accounts', {
    id: Number(account.id),
    kind,
    name,
    folded_name: normalizeName(name),
    full_name: account.fullName,
    email,
    hides_email: flag(account.hideEmail),
    is_site_admin: flag(account.siteAdmin),
    visibility,
    location,
    website,
    description,
    created_at: account.createdAt.getTime(),
  })
}

function writeRepository(session: SqlSession, repository: Repository): void {
  session.insert('host_repositories', {
    id: Number(repository.id),
    owner_id: Number(repository.ownerId),
    name: repository.name,
    folded_name: normalizeName(repository.name),
    description: repository.description,
    is_private: flag(repository.isPrivate),
    is_archived: flag(repository.isArchived),
    default_branch: repository.defaultBranch,
    created_at: repository.createdAt.getTime(),
  })
}

function writeIssue(session: SqlSession, issue: Issue): void {
  const { kind, title, body, state, branch } = issue
  session.insert('host_issues', {
    id: Number(issue.id),
    repository_id: Number(issue.repositoryId),
    issue_index: issue.index,
    kind,
    title,
    body,
    poster_id: Number(issue.posterId),
    state,
    is_locked: flag(issue.isLocked),
    branch,
    comment_count: issue.commentCount,
    created_at: issue.createdAt.getTime(),
    updated_at: issue.updatedAt.getTime(),
    closed_at: issue.closedAt?.getTime() ?? null,
  })
  issue.labelIds.forEach((labelId, place) => {
    session.insert('host_issue_labels', { issue_id: Number(issue.id), place, label_id: Number(labelId) })
  })
  issue.assigneeIds.forEach((userId, place) => {
    session.insert('host_issue_assignees', { issue_id: Number(issue.id), place, user_id: Number(userId) })
  })
}

function flag(value: boolean): number {
  return value ? 1 : 0
}
