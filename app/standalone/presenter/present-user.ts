import { giteaUser } from 'forgelet/http'
import type { Row } from '../host-store/tables.ts'
import type { SiteLinks } from './site-links.ts'
import { wireTime } from './site-links.ts'

/** Who sees a user: an anonymous caller, another signed-in user, or the user itself and site admins. */
export type UserView = 'anonymous' | 'signedIn' | 'full'

/**
 * Returns a user or organization as Gitea's API represents it, with the keys in Gitea's order. Fields that only the
 * user and site admins may see are blank for other callers. Source: docs/behaviour.md, The standalone server.
 */
export function presentUser(account: Row<'accounts'>, view: UserView, links: SiteLinks): object {
  const full = view === 'full'
  const { id, name: login, full_name, location, website, description, visibility } = account
  const user = giteaUser({
    id,
    login,
    fullName: full_name,
    email: shownEmail(account, view, links),
    avatarUrl: links.avatar(account),
    htmlUrl: links.account(account),
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
