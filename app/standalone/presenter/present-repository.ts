import type { IssueDetails } from '../host-store/page-reader.ts'
import type { UserView } from './present-user.ts'
import { presentUser } from './present-user.ts'
import type { SiteLinks } from './site-links.ts'
import { NEVER, UNSET, wireTime } from './site-links.ts'

/**
 * Returns the repository of an issue as Gitea's API represents it, with the keys in Gitea's order. Empty fields that
 * Gitea omits are omitted.
 */
export function presentRepository(details: IssueDetails, ownerView: UserView, links: SiteLinks): object {
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
    ...STORAGE,
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

const STORAGE = {
  mirror_interval: '',
  object_format_name: 'sha1',
  mirror_updated: NEVER,
  mirror_last_sync_at: NEVER,
} as const
