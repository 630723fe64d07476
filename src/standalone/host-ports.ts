import type { Directory } from '../http-adapters/http.ts'
import type {
  AccessRequest,
  Caller,
  Id,
  MaybePromise,
  Membership,
  OrganizationRole,
  Policy,
  RepositoryRole,
} from '../index.ts'
import { rolePolicy } from '../index.ts'
import type { FixtureVisibility } from './fixture/fixture.ts'
import type { HostStore, OrganizationAccess, RepositoryAccess } from './host-store/host-store.ts'

/** A user of the standalone host, as a signed-in actor. */
export interface StandaloneUser {
  readonly id: Id
  readonly username: string
}

/** Creates the access policy of the host, which follows Gitea's rules. Each decision reads the store once. */
export function hostPolicy(store: HostStore): Policy<StandaloneUser> {
  return {
    authorize(request, context) {
      const userId = idOf(context.actor)
      return whenReady(rolesFor(store, request, userId), (roles) =>
        rolePolicy<StandaloneUser>({
          isSiteAdmin: () => roles.isSiteAdmin,
          repositoryRole: () => roles.repository,
          organizationRole: () => roles.organization,
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

function rolesFor(store: HostStore, request: AccessRequest, userId: Id | undefined): MaybePromise<CallerRoles> {
  const signedIn = userId !== undefined
  if ('repositoryId' in request) {
    return whenReady(store.repositoryStanding(request.repositoryId, userId), ({ isSiteAdmin, access }) => ({
      isSiteAdmin,
      repository: repositoryRole(access, signedIn),
      organization: 'none',
    }))
  }
  if ('organizationId' in request) {
    return whenReady(store.organizationStanding(request.organizationId, userId), ({ isSiteAdmin, access }) => ({
      isSiteAdmin,
      repository: 'none',
      organization: organizationRole(access, signedIn),
    }))
  }
  const found = signedIn && store.isSiteAdmin(userId)
  return whenReady(found, (isSiteAdmin) => ({ isSiteAdmin, repository: 'none', organization: 'none' }))
}

/** Creates the membership port of the host. Owners of an organization are members of it. */
export function hostMembership<Tx>(store: HostStore<Tx>): Membership<StandaloneUser, Tx> {
  return {
    isMember: ({ organizationId, userId }, { transaction }) => store.isMember(organizationId, userId, transaction),
  }
}

/** Creates the directory of the host, which resolves names to ids. */
export function hostDirectory(store: HostStore): Directory<StandaloneUser> {
  return {
    findAccount: (name) => store.findAccount(name),
    findRepository: (owner, name) => store.findRepository(owner, name),
    findIssue: (repositoryId, index) => store.findIssue(repositoryId, index),
  }
}

/** Returns the id of a signed-in user, or undefined for every other caller. */
export function idOf(caller: Caller<StandaloneUser>): Id | undefined {
  return typeof caller === 'string' ? undefined : caller.id
}

/**
 * Returns the role that a user has in an organization. The role is 'none' if the user may not see the organization, so
 * that it stays concealed.
 */
function organizationRole(access: OrganizationAccess | undefined, signedIn: boolean): OrganizationRole {
  if (access === undefined) return 'none'
  if (access.membership !== undefined) return access.membership
  return sees(access.visibility, signedIn) ? 'stranger' : 'none'
}

/**
 * Returns the role that a user has in a repository. The owner, the owners of the owning organization and the admin
 * collaborators are admins. Members of the owning organization are readers. Everyone is a reader of a public repository
 * whose owner they may see.
 */
export function repositoryRole(access: RepositoryAccess | undefined, signedIn: boolean): RepositoryRole {
  if (access === undefined) return 'none'
  if (access.isOwner || access.membership === 'owner') return 'admin'
  if (access.collaboration !== undefined) return access.collaboration
  if (access.membership === 'member') return 'reader'
  return !access.isPrivate && sees(access.ownerVisibility, signedIn) ? 'reader' : 'none'
}

function sees(visibility: FixtureVisibility, signedIn: boolean): boolean {
  return visibility === 'public' || (visibility === 'limited' && signedIn)
}

/** Passes a value to `next`: synchronously if the value is available, otherwise once the promise is fulfilled. */
export function whenReady<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
