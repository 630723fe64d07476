import type { IssueDetails } from '../host-store/host-store.ts'
import type { Label } from '../seed.ts'
import type { UserView } from './present-user.ts'
import { presentUser } from './present-user.ts'
import type { SiteLinks } from './site-links.ts'
import { wireTime } from './wire-time.ts'

/** An issue as Gitea's API shows it, key by key in its order. The poster is seen as the caller sees it, assignees as by nobody. */
export function presentIssue(details: IssueDetails, posterView: UserView, links: SiteLinks): object {
  const { issue, repository, owner } = details
  const assignees = presentAssignees(details, links)
  return {
    id: Number(issue.id),
    url: `${links.repositoryApi(owner, repository)}/issues/${issue.index}`,
    html_url: links.issue(owner, repository, issue),
    number: issue.index,
    user: presentUser(details.poster, posterView, links),
    original_author: '',
    original_author_id: 0,
    title: issue.title,
    body: issue.body,
    ref: '',
    assets: [],
    labels: presentLabels(details, links),
    milestone: null,
    projects: null,
    assignee: assignees[0] ?? null,
    assignees: assignees.length === 0 ? null : assignees,
    state: issue.state,
    is_locked: issue.isLocked,
    comments: issue.commentCount,
    created_at: wireTime(issue.createdAt),
    updated_at: wireTime(issue.updatedAt),
    closed_at: issue.closedAt && wireTime(issue.closedAt),
    due_date: null,
    time_estimate: 0,
    pull_request: null,
    repository: {
      id: Number(repository.id),
      name: repository.name,
      owner: owner.name,
      full_name: `${owner.name}/${repository.name}`,
    },
    pin_order: 0,
    content_version: 0,
  }
}

/** The assignees of an issue or pull request, as nobody sees them. */
export function presentAssignees(details: IssueDetails, links: SiteLinks): readonly object[] {
  return details.assignees.map((assignee) => presentUser(assignee, 'anonymous', links))
}

/** The labels of an issue or pull request. */
export function presentLabels(details: IssueDetails, links: SiteLinks): readonly object[] {
  const repository = links.repositoryApi(details.owner, details.repository)
  return details.labels.map((label) => presentLabel(label, `${repository}/labels/${label.id}`))
}

function presentLabel({ id, name, color, description }: Label, url: string): object {
  return { id: Number(id), name, exclusive: false, is_archived: false, color, description, url }
}
