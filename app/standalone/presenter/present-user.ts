import type { Row } from '../host-store/tables.ts'
import type { SiteLinks } from './site-links.ts'
import { NEVER, wireTime } from './site-links.ts'

/** Who sees a user: an anonymous caller, another signed-in user, or the user itself and site admins. */
export type UserView = 'anonymous' | 'signedIn' | 'full'

/**
 * Returns a user or organization as Gitea's API represents it, with the keys in Gitea's order. Fields that only the
 * user and site admins may see are blank for other callers. Source: docs/behaviour.md, The standalone server.
 */
export function presentUser(account: Row<'accounts'>, view: UserView, links: SiteLinks): object {
  const full = view === 'full'
  return {
    id: account.id,
    login: account.name,
    login_name: '',
    source_id: 0,
    full_name: account.full_name,
    email: shownEmail(account, view, links),
    avatar_url: links.avatar(account),
    html_url: links.account(account),
    language: '',
    is_admin: full && account.is_site_admin === 1,
    last_login: NEVER,
    created: wireTime(new Date(account.created_at)),
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

function shownEmail(account: Row<'accounts'>, view: UserView, links: SiteLinks): string {
  if (account.kind === 'organization') return account.email
  if (view === 'full' || (view === 'signedIn' && account.hides_email === 0)) return account.email
  return `${account.id}+${account.folded_name}@noreply.${links.hostname}`
}
