import type { Directory } from '../http-adapters/http.ts'
import type { Asker, Id, Membership, Policy } from '../index.ts'
import { rolePolicy } from '../index.ts'
import type { Roster } from './roster/roster.ts'
import { organizationRole, repositoryRole } from './standing-role.ts'
import { whenReady } from './when-ready.ts'

/** A user of the standalone host, as a signed-in actor. */
export interface StandaloneUser {
  readonly id: Id
  readonly username: string
}

/** The roles of the host, under Gitea's rules. */
export function rosterPolicy(roster: Roster): Policy<StandaloneUser> {
  return rolePolicy<StandaloneUser>({
    isSiteAdmin: (actor) => roster.isSiteAdmin(actor.id),
    repositoryRole: (repositoryId, { actor }) => {
      const userId = idOf(actor)
      const standing = roster.repositoryStanding(repositoryId, userId)
      return whenReady(standing, (found) => repositoryRole(found, userId !== undefined))
    },
    organizationRole: (organizationId, { actor }) => {
      const userId = idOf(actor)
      const standing = roster.organizationStanding(organizationId, userId)
      return whenReady(standing, (found) => organizationRole(found, userId !== undefined))
    },
  })
}

/** Who is a member of which organization; owners are. */
export function rosterMembership(roster: Roster): Membership<StandaloneUser> {
  return { isMember: ({ organizationId, userId }) => roster.isMember(organizationId, userId) }
}

/** Names to ids. */
export function rosterDirectory(roster: Roster): Directory<StandaloneUser> {
  return {
    findAccount: (name) => roster.findAccount(name),
    findRepository: (owner, name) => roster.findRepository(owner, name),
    findIssue: (repositoryId, index) => roster.findIssue(repositoryId, index),
  }
}

/** The id of a signed-in user; undefined for everybody else. */
export function idOf(asker: Asker<StandaloneUser>): Id | undefined {
  return typeof asker === 'string' ? undefined : asker.id
}
