import type { AccessRequest, Actor, Caller, Id, MaybePromise, OrganizationRole, Policy, RepositoryRole } from 'forgelet'
import { rolePolicy } from 'forgelet'
import { after } from '../steps.ts'
import type { Row } from './tables.ts'

/** A user of the standalone host, as a signed-in actor. */
export interface StandaloneUser {
  readonly id: Id
  readonly username: string
}

/** The id of nothing. */
export const NO_ID = 0

/** Returns an id as it is stored. Callers may ask for any text: what no database assigned is the id of nothing. */
export function idOf(id: Id): number {
  const number = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : NO_ID
  return Number.isSafeInteger(number) ? number : NO_ID
}

/** Returns the id of a signed-in user, or that of nothing for every other caller. */
export function userIdOf(caller: Caller<StandaloneUser>): number {
  return typeof caller === 'string' ? NO_ID : idOf(caller.id)
}

/** Returns the repository or the organization of a request; the id of nothing for what it does not have. */
export function placeOf(request: AccessRequest): { readonly repositoryId: number; readonly organizationId: number } {
  return {
    repositoryId: 'repositoryId' in request ? idOf(request.repositoryId) : NO_ID,
    organizationId: 'organizationId' in request ? idOf(request.organizationId) : NO_ID,
  }
}

/** What a caller is to a repository or an organization. What does not exist is null. */
export interface Standing {
  /** Of the caller's account. Null for an anonymous caller. */
  readonly id: number | null
  readonly is_site_admin: number | null
  /** Of the organization, or of the account that owns the repository. */
  readonly visibility: Row<'accounts'>['visibility'] | null
  /** The membership in that organization. */
  readonly role: Row<'members'>['role'] | null
  /** Of the repository. Null for an organization. */
  readonly owner_id: number | null
  readonly is_private: number | null
  readonly collaboration: Row<'collaborators'>['role'] | null
}

/**
 * Creates the access policy of the host, which follows Gitea's rules.
 *
 * @param standingOf - looks up what a caller is to the repository or organization of a request, once for each decision
 */
export function hostPolicy<A extends Actor>(
  standingOf: (request: AccessRequest, actor: A | 'anonymous') => MaybePromise<Standing>,
): Policy<A> {
  return {
    authorize: (request, context) =>
      after(standingOf(request, context.actor), (standing) =>
        rolePolicy<A>({
          isSiteAdmin: () => standing.is_site_admin === 1,
          repositoryRole: () => repositoryRoleOf(standing),
          organizationRole: () => organizationRoleOf(standing),
        }).authorize(request, context),
      ),
  }
}

/** Returns the role in an organization: 'none' if the user may not see it, so that it stays concealed. */
function organizationRoleOf(standing: Standing): OrganizationRole {
  return standing.role ?? (seesOwner(standing) ? 'stranger' : 'none')
}

/**
 * Returns the role in a repository. The owner, the owners of the owning organization and the admin collaborators are
 * admins. Members of the owning organization are readers. Everyone is a reader of a public repository whose owner they
 * may see.
 */
export function repositoryRoleOf(standing: Standing): RepositoryRole {
  const { id, owner_id, is_private, role, collaboration } = standing
  if (owner_id === null) return 'none'
  if (owner_id === id || role === 'owner') return 'admin'
  if (collaboration !== null) return collaboration
  if (role === 'member') return 'reader'
  return is_private === 0 && seesOwner(standing) ? 'reader' : 'none'
}

function seesOwner({ id, visibility }: Standing): boolean {
  return visibility === 'public' || (visibility === 'limited' && id !== null)
}
