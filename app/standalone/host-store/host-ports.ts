import type { Caller, Policy } from 'forgelet'
import { rolePolicy } from 'forgelet'
import type { Presenter } from 'forgelet/http'
import { presentIssue, presentPullRequest } from '../presenter/present-issue.ts'
import type { UserView } from '../presenter/present-user.ts'
import { presentUser } from '../presenter/present-user.ts'
import { SiteLinks } from '../presenter/site-links.ts'
import { after } from '../steps.ts'
import type { HostDirectory } from './host-directory.ts'
import type { IssueDetails, PageReader } from './page-reader.ts'
import type { StandaloneUser } from './roles.ts'
import { organizationRoleOf, repositoryRoleOf, userIdOf } from './roles.ts'

/** Creates the access policy of the host, which follows Gitea's rules. Each decision reads the host once. */
export function hostPolicy(host: Pick<HostDirectory, 'standing'>): Policy<StandaloneUser> {
  return {
    authorize(request, context) {
      const userId = userIdOf(context.actor)
      return after(host.standing(request, userId), (standing) =>
        rolePolicy<StandaloneUser>({
          isSiteAdmin: () => standing.is_site_admin === 1,
          repositoryRole: () => repositoryRoleOf(standing, userId),
          organizationRole: () => organizationRoleOf(standing, userId),
        }).authorize(request, context),
      )
    },
  }
}

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
