import type { Directory } from '../http-adapters/http.ts'
import type { Asker, Id, Membership, Policy } from '../index.ts'
import { rolePolicy } from '../index.ts'
import type { HostStore } from './host-store/host-store.ts'
import { organizationRole, repositoryRole } from './standing-role.ts'
import { whenReady } from './when-ready.ts'

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
export function idOf(asker: Asker<StandaloneUser>): Id | undefined {
  return typeof asker === 'string' ? undefined : asker.id
}
