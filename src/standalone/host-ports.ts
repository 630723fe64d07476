import type { Directory } from '../http-adapters/http.ts'
import type { Caller, Id, MaybePromise, Membership, OrganizationRole, Policy, RepositoryRole } from '../index.ts'
import { rolePolicy } from '../index.ts'
import type { FixtureVisibility } from './fixture/fixture.ts'
import type { HostStore, OrganizationStanding, RepositoryStanding } from './host-store/host-store.ts'

/** A user of the standalone host, as a signed-in actor. */
export interface StandaloneUser {
  readonly id: Id
  readonly username: string
}

/** The roles of the host, under Gitea's rules. */
export function hostPolicy(store: HostStore): Policy<StandaloneUser> {
  return rolePolicy<StandaloneUser>({
    isSiteAdmin: (actor) => store.isSiteAdmin(actor.id),
    repositoryRole: (repositoryId, { actor }) => {
      const userId = idOf(actor)
      const standing = store.repositoryStanding(repositoryId, userId)
      return whenReady(standing, (found) => repositoryRole(found, userId !== undefined))
    },
    organizationRole: (organizationId, { actor }) => {
      const userId = idOf(actor)
      const standing = store.organizationStanding(organizationId, userId)
      return whenReady(standing, (found) => organizationRole(found, userId !== undefined))
    },
  })
}

/** Who is a member of which organization; owners are. */
export function hostMembership(store: HostStore): Membership<StandaloneUser> {
  return { isMember: ({ organizationId, userId }) => store.isMember(organizationId, userId) }
}

/** Names to ids. */
export function hostDirectory(store: HostStore): Directory<StandaloneUser> {
  return {
    findAccount: (name) => store.findAccount(name),
    findRepository: (owner, name) => store.findRepository(owner, name),
    findIssue: (repositoryId, index) => store.findIssue(repositoryId, index),
  }
}

/** The id of a signed-in user; undefined for everybody else. */
export function idOf(asker: Caller<StandaloneUser>): Id | undefined {
  return typeof asker === 'string' ? undefined : asker.id
}

/** What an organization is to someone. One that may not be seen is 'none': concealed. */
export function organizationRole(standing: OrganizationStanding | undefined, signedIn: boolean): OrganizationRole {
  if (standing === undefined) return 'none'
  if (standing.membership !== undefined) return standing.membership
  return sees(standing.visibility, signedIn) ? 'stranger' : 'none'
}

/**
 * What a repository is to someone: the owner, an owner of the owning organization and an admin collaborator are admins;
 * members of the owning organization read; everybody reads a public repository whose owner they may see.
 */
export function repositoryRole(standing: RepositoryStanding | undefined, signedIn: boolean): RepositoryRole {
  if (standing === undefined) return 'none'
  if (standing.isOwner || standing.membership === 'owner') return 'admin'
  if (standing.collaboration !== undefined) return standing.collaboration
  if (standing.membership === 'member') return 'reader'
  return !standing.isPrivate && sees(standing.ownerVisibility, signedIn) ? 'reader' : 'none'
}

function sees(visibility: FixtureVisibility, signedIn: boolean): boolean {
  return visibility === 'public' || (visibility === 'limited' && signedIn)
}

/** Goes on with a value: at once when it is there, else once it is. */
export function whenReady<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
