import type { OrganizationRole, RepositoryRole } from '../index.ts'
import type { FixtureVisibility } from './fixture.ts'
import type { OrganizationStanding, RepositoryStanding } from './host-store/host-store.ts'

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
