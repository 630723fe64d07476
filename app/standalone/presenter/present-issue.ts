import { giteaIssue, giteaPullRequest } from 'forgelet/http'
import { authorOf } from '../host-store/issue-records.ts'
import type { IssueDetails, ShownLabel, ShownMilestone } from '../host-store/page-reader.ts'
import { presentRepository } from './present-repository.ts'
import type { UserView } from './present-user.ts'
import { presentUser } from './present-user.ts'
import type { SiteLinks } from './site-links.ts'
import { UNSET, wireTime } from './site-links.ts'

/**
 * Returns an issue as Gitea's API represents it, with the keys in Gitea's order. The poster is presented as the caller
 * may see it, assignees as an anonymous caller may see them.
 */
export function presentIssue(details: IssueDetails, posterView: UserView, links: SiteLinks): object {
  const { issue, record, repository, owner } = details
  const { assignees, ...shown } = presentKnown(details, posterView, links)
  const isAuthor = authorOf(record) !== undefined
  return {
    ...giteaIssue(issue),
    ...shown,
    url: `${links.repositoryApi(owner, repository)}/issues/${issue.number}`,
    original_author: isAuthor ? '' : record.poster_name,
    original_author_id: isAuthor ? 0 : record.poster_id,
    ref: record.ref ?? '',
    assignees: assignees.length === 0 ? null : assignees,
    repository: {
      id: repository.id,
      name: repository.name,
      owner: owner.name,
      full_name: `${owner.name}/${repository.name}`,
    },
  }
}

const DRAFT_TITLE = /^(wip:|\[wip\])/i

/**
 * Returns a pull request as Gitea's API represents it, with the keys in Gitea's order. The host stores no git data:
 * commit ids are empty, and the numbers that need a diff are omitted, as Gitea does if it does not know them.
 */
export function presentPullRequest(details: IssueDetails, posterView: UserView, links: SiteLinks): object {
  const { issue, record, repository } = details
  const shown = presentKnown(details, posterView, links)
  const draft = DRAFT_TITLE.test(record.title)
  return {
    ...giteaPullRequest({ id: issue.id, number: issue.number, htmlUrl: shown.html_url }),
    ...shown,
    draft,
    mergeable: !draft,
    base: presentBranch(details, repository.default_branch, posterView, links),
    head: presentBranch(details, issue.branch, posterView, links),
  }
}

/** Returns what issues and pull requests have alike. */
function presentKnown(details: IssueDetails, posterView: UserView, links: SiteLinks) {
  const { issue, record, repository, owner } = details
  const page = links.issue(owner, repository, issue)
  const assignees = details.assignees.map((assignee) => presentUser(assignee, 'anonymous', links))
  const labelsUrl = `${links.repositoryApi(owner, repository)}/labels`
  return {
    url: page,
    html_url: page,
    user: presentUser(details.poster, posterView, links),
    title: record.title,
    body: record.content,
    labels: details.labels.map((label) => presentLabel(label, `${labelsUrl}/${label.id}`)),
    milestone: presentMilestone(details.milestone),
    assignee: assignees[0] ?? null,
    assignees,
    state: issue.state,
    is_locked: record.is_locked,
    comments: issue.comment_count,
    created_at: timeOf(record.created),
    updated_at: timeOf(record.updated),
    closed_at: timeOf(record.closed),
  }
}

function presentLabel({ id, name, color = '', description = '' }: ShownLabel, url: string): object {
  return { id, name, exclusive: false, is_archived: false, color, description, url }
}

/** A milestone may come from a document without times. */
function presentMilestone(milestone: ShownMilestone | undefined): object | null {
  if (milestone === undefined) return null

  const { id, title, description = '', state, open_issues, closed_issues } = milestone
  return {
    id,
    title,
    description,
    state,
    open_issues,
    closed_issues,
    created_at: timeOf(milestone.created) ?? UNSET,
    updated_at: timeOf(milestone.updated),
    closed_at: timeOf(milestone.closed),
    due_on: timeOf(milestone.deadline),
  }
}

/** Returns a time of a record as the API shows it; null if it has none. */
function timeOf(text: string | null | undefined): string | null {
  return text ? wireTime(new Date(text)) : null
}

function presentBranch(details: IssueDetails, branch: string, view: UserView, links: SiteLinks): object {
  const repo = presentRepository(details, view === 'anonymous' ? view : 'signedIn', links)
  return { label: branch, ref: branch, sha: '', repo_id: details.repository.id, repo }
}
