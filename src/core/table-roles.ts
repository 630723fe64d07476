import { hasMethods, need } from '../schema/arguments.ts'
import type { OptionRules } from '../schema/options.ts'
import { checkOptions } from '../schema/options.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'
import { isPromise } from '../schema/sync-or-async.ts'
import type { HostPorts, Standing } from '../storage/contract/host.ts'
import type { OrganizationRole, RepositoryRole, Roles } from './policy.ts'
import { malformed } from './policy.ts'
import type { Actor } from './ports.ts'

/** A storage whose `tables` has the members, the organizations and the repositories of the host. */
export interface StorageWithMembers<Tx> {
  readonly host: Pick<HostPorts<Tx>, 'standingInRepository' | 'standingInOrganization'>
}

/**
 * Returns the roles of users by the tables of the host, for `rolePolicy`. In a repository, its owner and the owners of its
 * organization are admins, members are writers, and others are readers unless it is private. In an organization, members
 * and owners have that role, and others are strangers unless it is private. `tables` says which rows are owners and what is
 * private. Source: docs/manual/07-who-may.md
 *
 * @param storage - a storage with `tables`: members, organizations and repositories
 * @param options - `admin` returns whether a user may do everything. Must return a boolean
 * @throws TypeError when the storage does not know these tables, or `admin` is not a function
 */
export function tableRoles<A extends Actor, Tx>(
  storage: StorageWithMembers<Tx>,
  options: { readonly admin: (actor: A) => MaybePromise<boolean> },
): Roles<A, Tx> {
  const host = storage?.host
  const knows = hasMethods(host, 'standingInRepository', 'standingInOrganization')
  need(knows, 'tableRoles', 'storage', 'a storage with tables: members, organizations and repositories')
  checkOptions('tableRoles', options, OPTIONS)
  const { admin } = options
  return {
    isSiteAdmin(actor) {
      const answer = admin(actor)
      return isPromise(answer) ? answer.then(toFlag) : toFlag(answer)
    },
    repositoryRole: (repositoryId, context) =>
      toRole(host.standingInRepository(repositoryId, context), roleInRepository),
    organizationRole: (organizationId, context) =>
      toRole(host.standingInOrganization(organizationId, context), roleInOrganization),
  }
}

const OPTIONS: OptionRules<Parameters<typeof tableRoles>[1]> = {
  admin: [(value) => typeof value === 'function', 'a function of the actor'],
}

/** The policy would name its own option, which a host of tables has not written. */
function toFlag(answer: boolean): boolean {
  if (typeof answer !== 'boolean') throw malformed('tableRoles: admin', 'true or false', answer)
  return answer
}

function toRole<R extends string>(
  standing: MaybePromise<Standing | undefined>,
  roleOf: (standing: Standing) => R,
): MaybePromise<R | 'none'> {
  if (isPromise(standing)) return standing.then((found) => (found === undefined ? 'none' : roleOf(found)))
  return standing === undefined ? 'none' : roleOf(standing)
}

function roleInRepository({ isOwner, isMember, isPrivate }: Standing): RepositoryRole {
  if (isOwner) return 'admin'
  if (isMember) return 'writer'
  return isPrivate ? 'none' : 'reader'
}

function roleInOrganization({ isOwner, isMember, isPrivate }: Standing): OrganizationRole {
  if (isOwner) return 'owner'
  if (isMember) return 'member'
  return isPrivate ? 'none' : 'stranger'
}
