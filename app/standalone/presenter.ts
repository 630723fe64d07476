import type { Caller } from 'forgelet'
import type { Presenter } from 'forgelet/http'
import { giteaIssue, giteaPullRequest, giteaUser } from 'forgelet/http'
import { authorOf } from './host-store/issue-records.ts'
import type { IssueDetails, PageReader, ShownLabel, ShownMilestone } from './host-store/page-reader.ts'
import type { StandaloneUser } from './host-store/roles.ts'
import { userIdOf } from './host-store/roles.ts'
import type { Row } from './host-store/tables.ts'
import { after } from './steps.ts'

/**
 * Creates the presenter of the host, which represents its records as Gitea's API does.
 *
 * @param publicUrl - the URL of the API root for clients; without it, links are relative to the server
 */
export function hostPresenter(pages: PageReader, publicUrl: string | undefined): Required<Presenter<StandaloneUser>> {
  const links = new SiteLinks(publicUrl)
  const issuesBy =
    (present: typeof presentIssue): Presenter<StandaloneUser>['issues'] =>
    (ids, { actor }) =>
      after(pages.issues(ids, userIdOf(actor)), (found) =>
        found.map((details) => details && present(details, viewOf(details, actor), links)),
      )
  return {
    users: (ids) =>
      after(pages.accounts(ids), (found) => found.map((account) => account && presentUser(account, 'signedIn', links))),
    issues: issuesBy(presentIssue),
    pullRequests: issuesBy(presentPullRequest),
  }
}

function viewOf({ poster, viewer }: IssueDetails, actor: Caller<StandaloneUser>): UserView {
  const seesAll = actor === 'system' || viewer?.is_site_admin === 1
  if (seesAll || poster.id === viewer?.id) return 'full'
  return actor === 'anonymous' ? 'anonymous' : 'signedIn'
}

/**
 * Returns an issue as Gitea's API represents it, with the keys in Gitea's order. The poster is presented as the caller
 * may see it, assignees as an anonymous caller may see them.
 */
function presentIssue(details: IssueDetails, posterView: UserView, links: SiteLinks): object {
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
function presentPullRequest(details: IssueDetails, posterView: UserView, links: SiteLinks): object {
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

/**
 * Returns the repository of an issue as Gitea's API represents it, with the keys in Gitea's order. Empty fields that
 * Gitea omits are omitted.
 */
function presentRepository(details: IssueDetails, ownerView: UserView, links: SiteLinks): object {
  const { repository, owner } = details
  const created = wireTime(new Date(repository.created_at))
  return {
    id: repository.id,
    owner: presentUser(owner, ownerView, links),
    name: repository.name,
    full_name: `${owner.name}/${repository.name}`,
    description: repository.description,
    empty: false,
    private: repository.is_private === 1,
    fork: false,
    template: false,
    mirror: false,
    size: 0,
    language: '',
    ...addresses(details, links),
    stars_count: 0,
    forks_count: 0,
    watchers_count: 0,
    branch_count: 1,
    open_issues_count: repository.open_issues,
    open_pr_counter: repository.open_pull_requests,
    release_counter: 0,
    default_branch: repository.default_branch,
    archived: repository.is_archived === 1,
    created_at: created,
    updated_at: created,
    archived_at: UNSET,
    ...SETTINGS,
    internal: owner.kind === 'organization' && owner.visibility === 'private' && repository.is_private === 0,
    mirror_interval: '',
    object_format_name: 'sha1',
    mirror_updated: NEVER,
    mirror_last_sync_at: NEVER,
    topics: [],
    licenses: [],
  }
}

function addresses({ repository, owner }: IssueDetails, links: SiteLinks): object {
  const page = links.repository(owner, repository)
  const api = links.repositoryApi(owner, repository)
  return {
    languages_url: `${api}/languages`,
    html_url: page,
    url: api,
    link: '',
    ssh_url: `git@${links.hostname}:${owner.name}/${repository.name}.git`,
    clone_url: `${page}.git`,
    original_url: '',
    website: '',
  }
}

const SETTINGS = {
  has_code: true,
  has_issues: true,
  has_wiki: false,
  has_pull_requests: true,
  has_projects: false,
  projects_mode: 'all',
  has_releases: false,
  has_packages: false,
  has_actions: false,
  ignore_whitespace_conflicts: false,
  allow_merge_commits: true,
  allow_rebase: true,
  allow_rebase_explicit: true,
  allow_squash_merge: true,
  allow_fast_forward_only_merge: true,
  allow_merge_update: true,
  allow_rebase_update: true,
  allow_manual_merge: false,
  autodetect_manual_merge: false,
  default_delete_branch_after_merge: false,
  default_merge_style: 'merge',
  default_update_style: 'merge',
  default_allow_maintainer_edit: false,
  avatar_url: '',
} as const

/** Who sees a user: an anonymous caller, another signed-in user, or the user itself and site admins. */
type UserView = 'anonymous' | 'signedIn' | 'full'

/**
 * Returns a user or organization as Gitea's API represents it, with the keys in Gitea's order. Fields that only the
 * user and site admins may see are blank for other callers. Source: docs/behaviour.md, The standalone server.
 */
function presentUser(account: Row<'accounts'>, view: UserView, links: SiteLinks): object {
  const full = view === 'full'
  const { id, name: login, full_name, location, website, description, visibility } = account
  const user = giteaUser({
    id,
    login,
    fullName: full_name,
    email: shownEmail(account, view, links),
    avatarUrl: `${links.site}/avatars/${id}`,
    htmlUrl: `${links.site}/${encodeURI(login)}`,
    isAdmin: full && account.is_site_admin === 1,
    location,
    website,
    description,
    visibility,
  })
  return { ...user, created: wireTime(new Date(account.created_at)), active: full }
}

function shownEmail(account: Row<'accounts'>, view: UserView, links: SiteLinks): string {
  if (account.kind === 'organization') return account.email
  if (view === 'full' || (view === 'signedIn' && account.hides_email === 0)) return account.email
  return `${account.id}+${account.folded_name}@noreply.${links.hostname}`
}

type Named = Pick<Row<'accounts'>, 'name'>

const API_PATH = '/api/v1'

/** Builds the public URLs of the host's accounts, repositories and issues. */
class SiteLinks {
  /** The URL of the API root, without a trailing slash. */
  readonly api: string
  /** The URL of the web pages, without a trailing slash. */
  readonly site: string

  /** @param publicUrl - the URL of the API root for clients; without it, links are relative to the server */
  constructor(publicUrl: string | undefined) {
    this.api = (publicUrl ?? API_PATH).replace(/\/+$/, '')
    this.site = this.api.endsWith(API_PATH) ? this.api.slice(0, -API_PATH.length) : this.api
  }

  /** The host name for placeholder e-mail addresses. A bare IP address does not count as a name. */
  get hostname(): string {
    const hostname = URL.canParse(this.api) ? new URL(this.api).hostname : ''
    return /[a-z]/i.test(hostname) && !hostname.startsWith('[') ? hostname : 'localhost'
  }

  repository(owner: Named, repository: Named): string {
    return `${this.site}/${pathOf(owner, repository)}`
  }

  repositoryApi(owner: Named, repository: Named): string {
    return `${this.api}/repos/${pathOf(owner, repository)}`
  }

  /** Returns the URL of the web page of an issue or pull request. */
  issue(owner: Named, repository: Named, issue: Pick<Row<'issues'>, 'kind' | 'number'>): string {
    const folder = issue.kind === 'pullRequest' ? 'pulls' : 'issues'
    return `${this.repository(owner, repository)}/${folder}/${issue.number}`
  }
}

/** Names have no slash, `?`, `#` or `%`, but any other letter. */
function pathOf(owner: Named, repository: Named): string {
  return encodeURI(`${owner.name}/${repository.name}`)
}

/**
 * Formats a time as RFC 3339 in UTC, with second precision. A time that was imported with an offset may be in a year
 * before 0 or after 9999 in UTC: it is shown as the nearest time that RFC 3339 can express.
 * Source: docs/behaviour.md, Everywhere.
 */
function wireTime(at: Date): string {
  const year = at.getUTCFullYear()
  if (year < 0) return '0000-01-01T00:00:00Z'
  if (year > 9999) return '9999-12-31T23:59:59Z'
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** The time that means "never" in a response. */
const NEVER = '0001-01-01T00:00:00Z'

/** The time that Gitea sends for a stored time that was never set. */
const UNSET = '1970-01-01T00:00:00Z'
