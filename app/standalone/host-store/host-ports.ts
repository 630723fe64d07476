import type { AccessRequest, Caller, MaybePromise, OrganizationRole, Policy, RepositoryRole } from 'forgelet'
import { ForgeError, rolePolicy } from 'forgelet'
import type { Presenter } from 'forgelet/http'
import { parseCredentials } from '../credentials.ts'
import { tokenDigest } from '../host-names.ts'
import { presentIssue, presentPullRequest } from '../presenter/present-issue.ts'
import type { UserView } from '../presenter/present-user.ts'
import { presentUser } from '../presenter/present-user.ts'
import { SiteLinks } from '../presenter/site-links.ts'
import { after } from '../steps.ts'
import type { HostDirectory } from './host-directory.ts'
import type { IssueDetails, PageReader } from './page-reader.ts'
import type { StandaloneUser } from './roles.ts'
import { organizationRoleOf, repositoryRoleOf, userIdOf } from './roles.ts'

/**
 * Returns the user that an `Authorization` header identifies, or null for an anonymous request.
 * @throws ForgeError `INVALID_CREDENTIALS` if the token is invalid
 */
export function authenticate(
  directory: Pick<HostDirectory, 'findUserByToken'>,
  header: string | undefined,
): MaybePromise<StandaloneUser | null> {
  const token = parseCredentials(header)
  if (token === undefined) return null

  return after(directory.findUserByToken(tokenDigest(token)), (user) => {
    if (user === undefined) throw new ForgeError('INVALID_CREDENTIALS', 'invalid username, password or token')
    return user
  })
}

/** What the policy reads of the host. */
export type Standings = Pick<HostDirectory, 'organizationStanding' | 'repositoryStanding'>

/** Creates the access policy of the host, which follows Gitea's rules. Each decision reads the host once. */
export function hostPolicy(standings: Standings): Policy<StandaloneUser> {
  return {
    authorize(request, context) {
      const userId = userIdOf(context.actor)
      return after(rolesFor(standings, request, userId), ({ isSiteAdmin, repository, organization }) =>
        rolePolicy<StandaloneUser>({
          isSiteAdmin: () => isSiteAdmin,
          repositoryRole: () => repository,
          organizationRole: () => organization,
        }).authorize(request, context),
      )
    },
  }
}

/** The roles of a caller, as far as a request depends on them. */
interface CallerRoles {
  readonly isSiteAdmin: boolean
  readonly repository: RepositoryRole
  readonly organization: OrganizationRole
}

function rolesFor(standings: Standings, request: AccessRequest, userId: number): MaybePromise<CallerRoles> {
  if ('repositoryId' in request) {
    return after(standings.repositoryStanding(request.repositoryId, userId), (standing) => ({
      isSiteAdmin: standing.is_site_admin === 1,
      repository: repositoryRoleOf(standing, userId),
      organization: 'none',
    }))
  }
  const organizationId = 'organizationId' in request ? request.organizationId : ''
  return after(standings.organizationStanding(organizationId, userId), (standing) => ({
    isSiteAdmin: standing.is_site_admin === 1,
    repository: 'none',
    organization: organizationRoleOf(standing, userId),
  }))
}

/**
 * Creates the presenter of the host, which represents its records as Gitea's API does.
 *
 * @param publicUrl - the URL of the API root for clients; without it, links are relative to the server
 */
export function hostPresenter(
  pages: Pick<PageReader, 'accounts' | 'issues'>,
  publicUrl: string | undefined,
): Required<Presenter<StandaloneUser>> {
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
