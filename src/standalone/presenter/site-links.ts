import type { Account, Issue, Repository } from '../fixture/seed.ts'

const API_PATH = '/api/v1'

/** Where things of the host are, seen from outside. */
export class SiteLinks {
  /** Address of the API root, without a slash at its end. */
  readonly api: string
  /** Address of the web pages, without a slash at its end. */
  readonly site: string

  /** @param publicUrl - where clients see the API root; without it links are relative to the server */
  constructor(publicUrl: string | undefined) {
    this.api = (publicUrl ?? API_PATH).replace(/\/+$/, '')
    this.site = this.api.endsWith(API_PATH) ? this.api.slice(0, -API_PATH.length) : this.api
  }

  /** The name of the machine, for placeholder e-mail addresses; a bare IP address is no name. */
  get hostname(): string {
    const hostname = URL.canParse(this.api) ? new URL(this.api).hostname : ''
    return /[a-z]/i.test(hostname) && !hostname.startsWith('[') ? hostname : 'localhost'
  }

  account(account: Account): string {
    return `${this.site}/${account.name}`
  }

  avatar(account: Account): string {
    return `${this.site}/avatars/${account.id}`
  }

  repository(owner: Account, repository: Repository): string {
    return `${this.site}/${owner.name}/${repository.name}`
  }

  repositoryApi(owner: Account, repository: Repository): string {
    return `${this.api}/repos/${owner.name}/${repository.name}`
  }

  /** The web page of an issue or pull request. */
  issue(owner: Account, repository: Repository, issue: Issue): string {
    const folder = issue.kind === 'pullRequest' ? 'pulls' : 'issues'
    return `${this.repository(owner, repository)}/${folder}/${issue.index}`
  }
}

/** RFC 3339 in UTC, second precision. Source: docs/behaviour.md, Everywhere. */
export function wireTime(at: Date): string {
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** What stands for "never" on the wire. */
export const NEVER = '0001-01-01T00:00:00Z'

/** What Gitea sends for a stored time that was never set. */
export const UNSET = '1970-01-01T00:00:00Z'
