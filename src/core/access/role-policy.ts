import type { AccessRequest, Verdict } from '../../schema/access.ts'
import type { Id } from '../../schema/ids.ts'
import type { MaybePromise, Steps } from '../../schema/steps.ts'
import { run, wait } from '../../schema/steps.ts'
import type { Actor, Policy, PortContext } from '../ports.ts'

/** What a user may do in a repository; 'none' conceals that it exists. */
export type RepositoryRole = 'admin' | 'writer' | 'reader' | 'none'

/** What a user is to an organization; 'none' conceals that it exists. */
export type OrganizationRole = 'owner' | 'member' | 'stranger' | 'none'

/** The facts a host supplies to `rolePolicy`. The context's actor may be 'anonymous'. */
export interface Roles<A extends Actor, Tx> {
  /** Whether the actor may do everything; never asked about 'anonymous'. */
  isSiteAdmin(actor: A): MaybePromise<boolean>
  /** What `context.actor` is in a repository; 'none' conceals it. */
  repositoryRole(repositoryId: Id, context: PortContext<A | 'anonymous', Tx>): MaybePromise<RepositoryRole>
  /** What `context.actor` is in an organization; 'none' conceals it. */
  organizationRole(organizationId: Id, context: PortContext<A | 'anonymous', Tx>): MaybePromise<OrganizationRole>
}

const ALLOWED: Verdict = { allow: true }
const CONCEALED: Verdict = { allow: false, reason: 'not found', conceal: true }

/**
 * Ready-made policy: Gitea's rules, out of facts that the host supplies. Site admins may do everything; repository admins
 * pin and import; readers see boards and keys and export; organization owners block; badges and events are the site admins'.
 * Nobody ('anonymous') may at most read, whatever role the host gives.
 * Source: docs/behaviour.md, Pins, Blocks and Badges
 */
export function rolePolicy<A extends Actor, Tx = unknown>(roles: Roles<A, Tx>): Policy<A, Tx> {
  return {
    authorize: (request, context) => run(judge(roles, request, context)),
  }
}

function* judge<A extends Actor, Tx>(
  roles: Roles<A, Tx>,
  request: AccessRequest,
  context: PortContext<A | 'anonymous', Tx>,
): Steps<Verdict> {
  const { actor } = context
  if (actor !== 'anonymous' && (yield* wait(roles.isSiteAdmin(actor)))) return ALLOWED

  switch (request.action) {
    case 'pins.read':
    case 'signing-keys.read':
    case 'issues.export':
      return whoReads(yield* wait(roles.repositoryRole(request.repositoryId, context)))
    case 'pins.write':
    case 'issues.import':
      return whoAdministers(actor, yield* wait(roles.repositoryRole(request.repositoryId, context)))
    case 'blocks.read':
    case 'blocks.write':
      return whoOwns(actor, yield* wait(roles.organizationRole(request.organizationId, context)))
    default:
      return refused('user should be the site admin')
  }
}

function whoReads(role: RepositoryRole): Verdict {
  return role === 'none' ? CONCEALED : ALLOWED
}

function whoAdministers(actor: Actor | 'anonymous', role: RepositoryRole): Verdict {
  if (role === 'none') return CONCEALED
  if (role === 'admin' && actor !== 'anonymous') return ALLOWED
  return refused('user should be an owner or a collaborator with admin write of a repository')
}

function whoOwns(actor: Actor | 'anonymous', role: OrganizationRole): Verdict {
  if (role === 'none') return CONCEALED
  if (role === 'owner' && actor !== 'anonymous') return ALLOWED
  return refused('Must be an organization owner')
}

function refused(reason: string): Verdict {
  return { allow: false, reason }
}
