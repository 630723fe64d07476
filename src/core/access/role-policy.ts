import type { AccessDecision, AccessRequest } from '../../schema/access.ts'
import type { Id } from '../../schema/ids.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../schema/sync-or-async.ts'
import type { Actor, Policy, PortContext } from '../ports.ts'

/** What a user may do in a repository; 'none' conceals that it exists. */
export type RepositoryRole = 'admin' | 'writer' | 'reader' | 'none'

/** What a user is to an organization; 'none' conceals that it exists. */
export type OrganizationRole = 'owner' | 'member' | 'stranger' | 'none'

/** The facts a host supplies to `rolePolicy`. The context's actor may be 'anonymous'. */
export interface Roles<A extends Actor, Tx> {
  /** Whether the actor may do everything: true or false, nothing else. Never asked about 'anonymous'. */
  isSiteAdmin(actor: A): MaybePromise<boolean>
  /** What `context.actor` is in a repository; 'none' conceals it. */
  repositoryRole(repositoryId: Id, context: PortContext<A | 'anonymous', Tx>): MaybePromise<RepositoryRole>
  /** What `context.actor` is in an organization; 'none' conceals it. */
  organizationRole(organizationId: Id, context: PortContext<A | 'anonymous', Tx>): MaybePromise<OrganizationRole>
}

const ALLOWED: AccessDecision = { allow: true }
const CONCEALED: AccessDecision = { allow: false, reason: 'not found', conceal: true }
const ADMINS_ONLY = 'user should be an owner or a collaborator with admin write of a repository'
const OWNERS_ONLY = 'Must be an organization owner'
/** In characters. */
const MAX_NAMED_LENGTH = 40

/**
 * Ready-made policy: Gitea's rules, out of facts that the host supplies. Site admins may do everything; repository admins
 * pin and import; readers see boards and keys and export; organization owners block; badges and events are the site admins'.
 * Nobody ('anonymous') may at most read, whatever role the host gives.
 *
 * A fact that is malformed decides nothing: a role that is not one of those above, undefined and null included, and an
 * `isSiteAdmin` that is not a boolean make `authorize` throw a TypeError, which the API answers with 500.
 * Source: docs/behaviour.md, Pins, Blocks and Badges
 *
 * @throws TypeError when one of the three functions is missing
 */
export function rolePolicy<A extends Actor, Tx = unknown>(roles: Roles<A, Tx>): Policy<A, Tx> {
  needFunction(roles?.isSiteAdmin, 'isSiteAdmin', 'a function of the actor')
  needFunction(roles.repositoryRole, 'repositoryRole', "a function of the repository's id and the context")
  needFunction(roles.organizationRole, 'organizationRole', "a function of the organization's id and the context")
  return {
    authorize: (request, context) => runMaybeAsync(judge(roles, request, context)),
  }
}

function needFunction(fact: unknown, name: keyof Roles<never, never>, what: string): void {
  if (typeof fact !== 'function') throw new TypeError(`rolePolicy needs ${name}: ${what}`)
}

function* judge<A extends Actor, Tx>(
  roles: Roles<A, Tx>,
  request: AccessRequest,
  context: PortContext<A | 'anonymous', Tx>,
): SyncOrAsync<AccessDecision> {
  const { actor } = context
  if (actor !== 'anonymous' && isAdmin(yield* wait(roles.isSiteAdmin(actor)))) return ALLOWED

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
    case 'badges.read':
    case 'badges.grant':
    case 'badges.catalogue.read':
    case 'badges.catalogue.write':
    case 'events.read':
      return refused('user should be the site admin')
    default:
      throw unknownAction(request satisfies never)
  }
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

/** Names what JavaScript hosts return, without anything long or private that it may hold. */
function nameOf(answer: unknown): string {
  if (answer === undefined || answer === null) return String(answer)
  if (typeof answer !== 'string') return typeof answer === 'object' ? 'an object' : `a ${typeof answer}`
  return answer.length <= MAX_NAMED_LENGTH ? JSON.stringify(answer) : `a text of ${answer.length} characters`
}

function unknownAction({ action }: AccessRequest): TypeError {
  return new TypeError(`rolePolicy does not know the action ${JSON.stringify(action)}`)
}
