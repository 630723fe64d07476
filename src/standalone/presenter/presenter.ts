import type { Presenter } from '../../http-adapters/http.ts'
import type { Asker, Id, MaybePromise } from '../../index.ts'
import type { StandaloneUser } from '../host-ports.ts'
import { idOf } from '../host-ports.ts'
import type { IssueSheet, Roster } from '../roster/roster.ts'
import { whenReady } from '../when-ready.ts'
import { presentIssue } from './present-issue.ts'
import { presentPullRequest } from './present-pull-request.ts'
import type { UserView } from './present-user.ts'
import { presentUser } from './present-user.ts'
import { SiteLinks } from './site-links.ts'

/**
 * Shows the roster as Gitea's API does.
 *
 * @param publicUrl - where clients see the API root; without it links are relative to the server
 */
export function rosterPresenter(roster: Roster, publicUrl: string | undefined): Presenter<StandaloneUser> {
  const links = new SiteLinks(publicUrl)
  return {
    users: (ids) =>
      whenReady(roster.accounts(ids), (accounts) =>
        accounts.map((account) => account && presentUser(account, 'signedIn', links)),
      ),
    issues: (ids, { actor }) => sheets(roster, ids, actor, (sheet, view) => presentIssue(sheet, view, links)),
    pullRequests: (ids, { actor }) =>
      sheets(roster, ids, actor, (sheet, view) => presentPullRequest(sheet, view, links)),
  }
}

function sheets(
  roster: Roster,
  ids: readonly Id[],
  actor: Asker<StandaloneUser>,
  present: (sheet: IssueSheet, view: UserView) => object,
): MaybePromise<readonly (object | undefined)[]> {
  return whenReady(siteAdmin(roster, actor), (seesAll) =>
    whenReady(roster.issues(ids), (found) =>
      found.map((sheet) => sheet && present(sheet, viewOf(sheet, actor, seesAll))),
    ),
  )
}

function siteAdmin(roster: Roster, actor: Asker<StandaloneUser>): MaybePromise<boolean> {
  const id = idOf(actor)
  return id === undefined ? actor === 'system' : roster.isSiteAdmin(id)
}

function viewOf(sheet: IssueSheet, actor: Asker<StandaloneUser>, seesAll: boolean): UserView {
  if (seesAll || sheet.poster.id === idOf(actor)) return 'full'
  return actor === 'anonymous' ? 'anonymous' : 'signedIn'
}
