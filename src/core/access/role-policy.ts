import type { AccessDecision, AccessRequest, ActionFacts } from '../../schema/access.ts'
import { actionFacts } from '../../schema/access.ts'
import type { Id } from '../../schema/ids.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import type { Actor, Policy, PortContext } from '../ports.ts'

/** The role of a user in a repository. 'none' conceals that the repository exists. */
export type RepositoryRole = 'admin' | 'writer' | 'reader' | 'none'

/** The role of a user in an organization. 'none' conceals that the organization exists. */
export type OrganizationRole = 'owner' | 'member' | 'stranger' | 'none'

/** The functions that a host supplies to `rolePolicy`. The context's actor may be 'anonymous'. */
export interface Roles<A extends Actor, Tx = unknown> {
  /** Returns whether the actor may do everything. Must return a boolean. Never called for 'anonymous'. */
  isSiteAdmin(actor: A): MaybePromise<boolean>
  /** Returns the role of `context.actor` in a repository. 'none' conceals the repository. */
  repositoryRole(repositoryId: Id, context: PortContext<A | 'anonymous', Tx>): MaybePromise<RepositoryRole>
  /** Returns the role of `context.actor` in an organization. 'none' conceals the organization. */
  organizationRole(organizationId: Id, context: PortContext<A | 'anonymous', Tx>): MaybePromise<OrganizationRole>
}

const ALLOWED: AccessDecision = { allow: true }
const CONCEALED: AccessDecision = { allow: false, reason: 'not found', conceal: true }
const ADMINS_ONLY = 'user should be an owner or a collaborator with admin write of a repository'
const OWNERS_ONLY = 'Must be an organization owner'
/** In characters. */
const MAX_NAMED_LENGTH = 40

/**
 * Creates a policy with Gitea's rules from functions that the host supplies. Site admins may do everything. Readers may
 * see boards and keys and export issues. Repository admins may pin and import issues. Organization owners may see and
 * change blocks. Only site admins may access badges and events, and attribute imported issues to accounts. 'anonymous'
 * may at most read, whatever role the host returns.
 *
 * A malformed result neither allows nor refuses. If a role is not one of those above (undefined and null included), or
 * if `isSiteAdmin` does not return a boolean, `authorize` throws a TypeError, to which the API responds with 500.
 * Source: docs/behaviour.md, Pins, Blocks, Badges, Signing keys and Exchange
 *
 * @throws TypeError when one of the three functions is missing
 */
export function rolePolicy<A extends Actor, Tx = unknown>(roles: Roles<A, Tx>): Policy<A, Tx> {
  needFunction(roles?.isSiteAdmin, 'isSiteAdmin', 'a function of the actor')
  needFunction(roles.repositoryRole, 'repositoryRole', "a function of the repository's id and the context")
  needFunction(roles.organizationRole, 'organizationRole', "a function of the organization's id and the context")
  return {
    authorize: (request, context) => decide(roles, request, context),
  }
}

function needFunction(fact: unknown, name: keyof Roles<never, never>, what: string): void {
  if (typeof fact !== 'function') throw new TypeError(`rolePolicy needs ${name}: ${what}`)
}

function decide<A extends Actor, Tx>(
  roles: Roles<A, Tx>,
  request: AccessRequest,
  context: PortContext<A | 'anonymous', Tx>,
): MaybePromise<AccessDecision> {
  const { actor } = context
  if (actor === 'anonymous') return decideByRole(roles, request, context)

  const admin = roles.isSiteAdmin(actor)
  return after(admin, (answer) => (isAdmin(answer) ? ALLOWED : decideByRole(roles, request, context)))
}

function decideByRole<A extends Actor, Tx>(
  roles: Roles<A, Tx>,
  request: AccessRequest,
  context: PortContext<A | 'anonymous', Tx>,
): MaybePromise<AccessDecision> {
  const { actor } = context
  switch (leastRole(request)) {
    case 'repository reader':
      return after(roles.repositoryRole(repositoryOf(request), context), whoReads)
    case 'repository admin':
      return after(roles.repositoryRole(repositoryOf(request), context), (role) => whoAdministers(actor, role))
    case 'organization owner':
      return after(roles.organizationRole(organizationOf(request), context), (role) => whoOwns(actor, role))
    case 'site admin':
      return refused('user should be the site admin')
  }
}

/** Returns the least role that may do what is requested. JavaScript callers may request an unknown action. */
function leastRole(request: AccessRequest): ActionFacts['allows'] {
  if (Object.hasOwn(actionFacts, request.action)) return actionFacts[request.action].allows
  throw unknownAction(request)
}

function repositoryOf(request: AccessRequest): Id {
  if ('repositoryId' in request) return request.repositoryId
  throw new TypeError(`the action ${JSON.stringify(request.action)} needs a repositoryId`)
}

function organizationOf(request: AccessRequest): Id {
  if ('organizationId' in request) return request.organizationId
  throw new TypeError(`the action ${JSON.stringify(request.action)} needs an organizationId`)
}

function isAdmin(answer: boolean): boolean {
  if (typeof answer === 'boolean') return answer
  throw malformed('isSiteAdmin', 'true or false', answer)
}

function whoReads(role: RepositoryRole): AccessDecision {
  switch (role) {
    case 'admin':
    case 'writer':
    case 'reader':
      return ALLOWED
    case 'none':
      return CONCEALED
    default:
      throw unknownRepositoryRole(role satisfies never)
  }
}

function whoAdministers(actor: Actor | 'anonymous', role: RepositoryRole): AccessDecision {
  switch (role) {
    case 'admin':
      return actor === 'anonymous' ? refused(ADMINS_ONLY) : ALLOWED
    case 'writer':
    case 'reader':
      return refused(ADMINS_ONLY)
    case 'none':
      return CONCEALED
    default:
      throw unknownRepositoryRole(role satisfies never)
  }
}

function whoOwns(actor: Actor | 'anonymous', role: OrganizationRole): AccessDecision {
  switch (role) {
    case 'owner':
      return actor === 'anonymous' ? refused(OWNERS_ONLY) : ALLOWED
    case 'member':
    case 'stranger':
      return refused(OWNERS_ONLY)
    case 'none':
      return CONCEALED
    default:
      throw malformed('organizationRole', "'owner', 'member', 'stranger' or 'none'", role satisfies never)
  }
}

function refused(reason: string): AccessDecision {
  return { allow: false, reason }
}

function unknownRepositoryRole(role: unknown): TypeError {
  return malformed('repositoryRole', "'admin', 'writer', 'reader' or 'none'", role)
}

function malformed(name: keyof Roles<never, never>, expected: string, answer: unknown): TypeError {
  return new TypeError(`${name} must return ${expected}; it returned ${nameOf(answer)}`)
}

/** Describes a value that a JavaScript host returned, without long or private content. */
function nameOf(answer: unknown): string {
  if (answer === undefined || answer === null) return String(answer)
  if (typeof answer !== 'string') return typeof answer === 'object' ? 'an object' : `a ${typeof answer}`
  return answer.length <= MAX_NAMED_LENGTH ? JSON.stringify(answer) : `a string of ${answer.length} characters`
}

function unknownAction({ action }: AccessRequest): TypeError {
  return new TypeError(`rolePolicy has no rule for the action ${JSON.stringify(action)}`)
}
