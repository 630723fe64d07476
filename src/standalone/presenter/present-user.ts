import type { Account } from '../fixture/seed.ts'
import { normalizeName } from '../host-names.ts'
import type { SiteLinks } from './site-links.ts'
import { NEVER, wireTime } from './site-links.ts'

/** Who sees a user: an anonymous caller, another signed-in user, or the user itself and site admins. */
export type UserView = 'anonymous' | 'signedIn' | 'full'

/**
 * Returns a user or organization as Gitea's API represents it, with the keys in Gitea's order. Fields that only the
 * user and site admins may see are blank for other callers. Source: docs/behaviour.md, The standalone server.
 */
export function presentUser(account: Account, view: UserView, links: SiteLinks): object {
  const full = view === 'full'
  return {
    id: Number(account.id),
    login: account.name,
    login_name: '',
    source_id: 0,
    full_name: account.fullName,
    email: shownEmail(account, view, links),
    avatar_url: links.avatar(account),
    html_url: links.account(account),
    language: '',
    is_admin: full && account.siteAdmin,
    last_login: NEVER,
    created: wireTime(account.createdAt),
    restricted: false,
    active: full,
    prohibit_login: false,
    location: account.location,
    website: account.website,
    description: account.description,
    visibility: account.visibility,
    followers_count: 0,
    following_count: 0,
    starred_repos_count: 0,
    username: account.name,
  }
}

function shownEmail(account: Account, view: UserView, links: SiteLinks): string {
  if (account.kind === 'organization') return account.email
  if (view === 'full' || (view === 'signedIn' && !account.hideEmail)) return account.email
  return `${account.id}+${normalizeName(account.name)}@noreply.${links.hostname}`
}
