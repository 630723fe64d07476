import type { Presenter } from '../../http-adapters/http.ts'
import type { Caller, Id, MaybePromise } from '../../index.ts'
import type { StandaloneUser } from '../host-ports.ts'
import { idOf, whenReady } from '../host-ports.ts'
import type { HostStore, IssueDetails } from '../host-store/host-store.ts'
import { presentIssue, presentPullRequest } from './present-issue.ts'
import type { UserView } from './present-user.ts'
import { presentUser } from './present-user.ts'
import { SiteLinks } from './site-links.ts'

/**
 * Creates the presenter of the host, which represents the store as Gitea's API does.
 *
 * @param publicUrl - the URL of the API root for clients; without it, links are relative to the server
 */
export function hostPresenter(store: HostStore, publicUrl: string | undefined): Presenter<StandaloneUser> {
  const links = new SiteLinks(publicUrl)
  return {
    users: (ids) =>
      whenReady(store.accounts(ids), (accounts) =>
        accounts.map((account) => account && presentUser(account, 'signedIn', links)),
      ),
    issues: (ids, { actor }) => details(store, ids, actor, (details, view) => presentIssue(details, view, links)),
    pullRequests: (ids, { actor }) =>
      details(store, ids, actor, (details, view) => presentPullRequest(details, view, links)),
  }
}

function details(
  store: HostStore,
  ids: readonly Id[],
  actor: Caller<StandaloneUser>,
  present: (details: IssueDetails, view: UserView) => object,
): MaybePromise<readonly (object | undefined)[]> {
  return whenReady(store.issues(ids, idOf(actor)), (found) =>
    found.map((details) => details && present(details, viewOf(details, actor))),
  )
}

function viewOf({ poster, viewer }: IssueDetails, actor: Caller<StandaloneUser>): UserView {
  const seesAll = actor === 'system' || viewer?.siteAdmin === true
  if (seesAll || poster.id === idOf(actor)) return 'full'
  return actor === 'anonymous' ? 'anonymous' : 'signedIn'
}
