import type { IssueDetails } from '../host-store/host-store.ts'
import { presentAssignees, presentLabels } from './present-issue.ts'
import { presentRepository } from './present-repository.ts'
import type { UserView } from './present-user.ts'
import { presentUser } from './present-user.ts'
import type { SiteLinks } from './site-links.ts'
import { wireTime } from './wire-time.ts'

const DRAFT_TITLE = /^(wip:|\[wip\])/i

/**
 * A pull request as Gitea's API shows it, key by key in its order. The host keeps no git data: commit ids are empty, and the
 * numbers that would need a diff are left out, as Gitea does when it does not know them.
 */
export function presentPullRequest(details: IssueDetails, posterView: UserView, links: SiteLinks): object {
  const { issue, repository, owner } = details
  const page = links.issue(owner, repository, issue)
  const assignees = presentAssignees(details, links)
  const draft = DRAFT_TITLE.test(issue.title)
  return {
    id: Number(issue.id),
    url: page,
    number: issue.index,
    user: presentUser(details.poster, posterView, links),
    title: issue.title,
    body: issue.body,
    labels: presentLabels(details, links),
    milestone: null,
    assignee: assignees[0] ?? null,
    assignees,
    requested_reviewers: [],
    requested_reviewers_teams: [],
    state: issue.state,
    draft,
    is_locked: issue.isLocked,
    comments: issue.commentCount,
    review_comments: 0,
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    mergeable: !draft,
    merged: false,
    merged_at: null,
    merge_commit_sha: null,
    merged_by: null,
    allow_maintainer_edit: false,
    base: presentBranch(details, repository.defaultBranch, posterView, links),
    head: presentBranch(details, issue.branch, posterView, links),
    merge_base: '',
    due_date: null,
    created_at: wireTime(issue.createdAt),
    updated_at: wireTime(issue.updatedAt),
    closed_at: issue.closedAt && wireTime(issue.closedAt),
    pin_order: 0,
    content_version: 0,
  }
}

function presentBranch(details: IssueDetails, branch: string, view: UserView, links: SiteLinks): object {
  const repo = presentRepository(details, view === 'anonymous' ? view : 'signedIn', links)
  return { label: branch, ref: branch, sha: '', repo_id: Number(details.repository.id), repo }
}
