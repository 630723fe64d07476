import type { Row } from '../host-store/tables.ts'

type Named = Pick<Row<'accounts'>, 'name'>

const API_PATH = '/api/v1'

/** Builds the public URLs of the host's accounts, repositories and issues. */
export class SiteLinks {
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

  account(account: Named): string {
    return `${this.site}/${account.name}`
  }

  avatar(account: Pick<Row<'accounts'>, 'id'>): string {
    return `${this.site}/avatars/${account.id}`
  }

  repository(owner: Named, repository: Named): string {
    return `${this.site}/${owner.name}/${repository.name}`
  }

  repositoryApi(owner: Named, repository: Named): string {
    return `${this.api}/repos/${owner.name}/${repository.name}`
  }

  /** Returns the URL of the web page of an issue or pull request. */
  issue(owner: Named, repository: Named, issue: Pick<Row<'issues'>, 'kind' | 'number'>): string {
    const folder = issue.kind === 'pullRequest' ? 'pulls' : 'issues'
    return `${this.repository(owner, repository)}/${folder}/${issue.number}`
  }
}

/**
 * Formats a time as RFC 3339 in UTC, with second precision. A time that was imported with an offset may be in a year
 * before 0 or after 9999 in UTC: it is shown as the nearest time that RFC 3339 can express.
 * Source: docs/behaviour.md, Everywhere.
 */
export function wireTime(at: Date): string {
  const year = at.getUTCFullYear()
  if (year < 0) return '0000-01-01T00:00:00Z'
  if (year > 9999) return '9999-12-31T23:59:59Z'
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** The time that means "never" in a response. */
export const NEVER = '0001-01-01T00:00:00Z'

/** The time that Gitea sends for a stored time that was never set. */
export const UNSET = '1970-01-01T00:00:00Z'
