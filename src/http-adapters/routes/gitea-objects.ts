import type { Actor, HostIssue, HostPorts, HostUser } from '../../core/ports.ts'
import { hasMethods, need } from '../../schema/arguments.ts'
import type { IdInput } from '../../schema/ids.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { isPromise } from '../../schema/sync-or-async.ts'
import type { Presenter } from './ports.ts'

// The objects of Gitea's API from the few properties that a host has: with all keys, in Gitea's order. Source:
// docs/behaviour.md, Objects

/** A user of the host. */
export interface GiteaUserFacts {
  readonly id: IdInput
  /** The name in paths. */
  readonly login: string
  readonly fullName?: string | undefined
  readonly email?: string | undefined
  readonly avatarUrl?: string | undefined
  readonly htmlUrl?: string | undefined
  readonly isAdmin?: boolean | undefined
  /** Default: the time that means "never". */
  readonly createdAt?: Date | undefined
  readonly location?: string | undefined
  readonly website?: string | undefined
  readonly description?: string | undefined
  /** `public`, `limited` or `private`. Default: `public`. */
  readonly visibility?: string | undefined
}

/** An issue of the host. */
export interface GiteaIssueFacts {
  readonly id: IdInput
  readonly number: number
  readonly title?: string | undefined
  readonly body?: string | undefined
  /** Default: open. */
  readonly isClosed?: boolean | undefined
  readonly isLocked?: boolean | undefined
  /** The author. Default: none. */
  readonly user?: GiteaUserFacts | undefined
  readonly comments?: number | undefined
  readonly labels?: readonly object[] | undefined
  readonly assignees?: readonly GiteaUserFacts[] | undefined
  readonly createdAt?: Date | undefined
  readonly updatedAt?: Date | undefined
  readonly closedAt?: Date | undefined
  readonly url?: string | undefined
  readonly htmlUrl?: string | undefined
}

/** The time that means "never". */
const NEVER = '0001-01-01T00:00:00Z'

/** Returns a user as Gitea's API represents it. A fact that is left out is shown as that of a user who has none. */
export function giteaUser(user: GiteaUserFacts): object {
  const { login, fullName = '', email = '', avatarUrl = '', htmlUrl = '', isAdmin = false, createdAt } = user
  const { location = '', website = '', description = '', visibility = 'public' } = user
  return {
    id: wireId(user.id),
    login,
    login_name: '',
    source_id: 0,
    full_name: fullName,
    email,
    avatar_url: avatarUrl,
    html_url: htmlUrl,
    language: '',
    is_admin: isAdmin,
    last_login: NEVER,
    created: wireTime(createdAt) ?? NEVER,
    restricted: false,
    active: true,
    prohibit_login: false,
    location,
    website,
    description,
    visibility,
    followers_count: 0,
    following_count: 0,
    starred_repos_count: 0,
    username: login,
  }
}

/** What an issue of which nothing is known has: every key, in Gitea's order. */
const ISSUE = {
  id: 0,
  url: '',
  html_url: '',
  number: 0,
  user: null,
  original_author: '',
  original_author_id: 0,
  title: '',
  body: '',
  ref: '',
  assets: [],
  labels: [],
  milestone: null,
  projects: null,
  assignee: null,
  assignees: null,
  state: 'open',
  is_locked: false,
  comments: 0,
  created_at: null,
  updated_at: null,
  closed_at: null,
  due_date: null,
  time_estimate: 0,
  pull_request: null,
  repository: null,
  pin_order: 0,
  content_version: 0,
} as const

/** What a pull request of which nothing is known has: every key, in Gitea's order. */
const PULL_REQUEST = {
  id: 0,
  url: '',
  number: 0,
  user: null,
  title: '',
  body: '',
  labels: [],
  milestone: null,
  assignee: null,
  assignees: null,
  requested_reviewers: [],
  requested_reviewers_teams: [],
  state: 'open',
  draft: false,
  is_locked: false,
  comments: 0,
  review_comments: 0,
  html_url: '',
  diff_url: '',
  patch_url: '',
  mergeable: true,
  merged: false,
  merged_at: null,
  merge_commit_sha: null,
  merged_by: null,
  allow_maintainer_edit: false,
  base: null,
  head: null,
  merge_base: '',
  due_date: null,
  created_at: null,
  updated_at: null,
  closed_at: null,
  pin_order: 0,
  content_version: 0,
} as const

/** Returns an issue as Gitea's API represents it. A fact that is left out is shown as that of an issue that has none. */
export function giteaIssue(issue: GiteaIssueFacts): object {
  return { ...ISSUE, assets: [], ...known(issue) }
}

/** Returns a pull request as Gitea's API represents it: neither a draft nor merged, and without what needs git. */
export function giteaPullRequest(pullRequest: GiteaIssueFacts): object {
  const { htmlUrl } = pullRequest
  const pages = htmlUrl ? { diff_url: `${htmlUrl}.diff`, patch_url: `${htmlUrl}.patch` } : {}
  return { ...PULL_REQUEST, requested_reviewers: [], requested_reviewers_teams: [], ...known(pullRequest), ...pages }
}

function known(issue: GiteaIssueFacts): object {
  const { number, title = '', body = '', isClosed = false, isLocked = false, user, comments = 0, labels = [] } = issue
  const assignees = (issue.assignees ?? []).map(giteaUser)
  return {
    id: wireId(issue.id),
    url: issue.url ?? '',
    html_url: issue.htmlUrl ?? '',
    number,
    user: user === undefined ? null : giteaUser(user),
    title,
    body,
    labels,
    assignee: assignees[0] ?? null,
    assignees: assignees.length === 0 ? null : assignees,
    state: isClosed ? 'closed' : 'open',
    is_locked: isLocked,
    comments,
    created_at: wireTime(issue.createdAt),
    updated_at: wireTime(issue.updatedAt ?? issue.createdAt),
    closed_at: wireTime(issue.closedAt),
  }
}

/** Gitea's ids are numbers. An id that is not a number stays a string. */
export function wireId(id: IdInput): number | string {
  const value = Number(id)
  return Number.isSafeInteger(value) && String(value) === String(id) ? value : String(id)
}

/** Times are in whole seconds. */
export function wireTime(at: Date | undefined): string | null {
  return at === undefined ? null : at.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** A storage whose `tables` has the users and the issues of the host. */
export interface StorageWithRows<Tx> {
  readonly host: Pick<HostPorts<Tx>, 'users' | 'issues' | 'pullRequests'>
}

/**
 * Returns a presenter that shows users, issues and pull requests as Gitea's API does, from the columns that `tables` names.
 * Source: docs/manual/05-mount-it.md
 *
 * @param storage - a storage with `tables`: users and issues
 * @throws TypeError when the storage does not know these tables
 */
export function presentTables<Tx>(storage: StorageWithRows<Tx>): Presenter<Actor, Tx> {
  const { host } = storage
  need(hasMethods(host, 'users', 'issues'), 'presentTables', 'storage', 'a storage with tables: users and issues')
  return {
    users: (ids, context) => shown(host.users(ids, context), (user) => giteaUser(userFacts(user))),
    issues: (ids, context) => shown(host.issues(ids, context), (issue) => giteaIssue(issueFacts(issue))),
    pullRequests: (ids, context) =>
      shown(host.pullRequests(ids, context), (issue) => giteaPullRequest(issueFacts(issue))),
  }
}

function shown<T>(
  rows: MaybePromise<readonly (T | undefined)[]>,
  show: (row: T) => object,
): MaybePromise<readonly (object | undefined)[]> {
  const all = (found: readonly (T | undefined)[]) => found.map((row) => row && show(row))
  return isPromise(rows) ? rows.then(all) : all(rows)
}

function userFacts({ id, name, fullName, email, avatar }: HostUser): GiteaUserFacts {
  return { id, login: name, fullName, email, avatarUrl: avatar }
}

function issueFacts({ author, ...issue }: HostIssue): GiteaIssueFacts {
  return { ...issue, user: author && userFacts(author) }
}
