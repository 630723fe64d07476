import { need, needObject } from '../schema/arguments.ts'
import { ForgeError, notFound } from '../schema/errors.ts'
import type { Id } from '../schema/ids.ts'
import { toId } from '../schema/ids.ts'
import type { AccessDecision, AccessRequest, Action } from '../schema/records.ts'
import { actionFacts } from '../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { isPromise, runMaybeAsync, wait } from '../schema/sync-or-async.ts'
import type { Call, OpenTransaction, Scope } from './call.ts'
import { actorIdOf, portAnswer } from './call.ts'
import type { Actor, Caller, Policy, PortContext } from './ports.ts'

/**
 * Checks the caller and, in a guarded scope, asks the policy one request after the other.
 *
 * @param requests - undefined: anyone may make the call
 * @throws ForgeError the `*_NOT_FOUND` of the object if the policy conceals it; `UNAUTHENTICATED` for 'anonymous';
 * otherwise `FORBIDDEN`. TypeError when the policy's decision is malformed.
 * Source: docs/behaviour.md, Everywhere
 */
export function authorize(
  scope: Scope,
  call: Call,
  requests: AccessRequest | readonly AccessRequest[] | undefined,
): SyncOrAsync<void> {
  if (scope.guarded) call.signal?.throwIfAborted() // the HTTP routes check the signal only when they wait
  if (requests === undefined) return wait(undefined)
  actorIdOf(call.actor) // a caller without an id is no one whom the policy could judge
  if (!scope.guarded) return wait(undefined)
  return isList(requests) ? askForEach(scope, call, requests) : askPolicy(scope, call, requests)
}

function isList(requests: AccessRequest | readonly AccessRequest[]): requests is readonly AccessRequest[] {
  return Array.isArray(requests)
}

function* askForEach(scope: Scope, call: Call, requests: readonly AccessRequest[]): SyncOrAsync<void> {
  for (const request of requests) yield* askPolicy(scope, call, request)
}

/**
 * Asks the policy. The HTTP routes call this before they read the rest of a request.
 *
 * @throws ForgeError as `authorize` does
 */
export function askPolicy({ environment }: Scope, call: Call, request: AccessRequest): SyncOrAsync<void> {
  needObject(request, 'request', "{ action: 'pins.read', repositoryId: 10 }")
  if (!isOfUser(call)) return wait(undefined)

  const answer = environment.policy.authorize(request, call)
  return isPromise(answer) ? enforceLater(answer, request, call) : wait(enforce(answer, request, call.actor))
}

function* enforceLater(answer: Promise<AccessDecision>, request: AccessRequest, call: Call): SyncOrAsync<void> {
  enforce(yield* portAnswer(call, answer), request, call.actor)
}

/** Throws the error that a decision means for the caller, unless it allows the request. */
function enforce(decision: AccessDecision, request: AccessRequest, actor: Caller<Actor>): void {
  // A JavaScript host may return any value. What is malformed, such as a database's 't', neither allows nor refuses.
  if (decision?.allow === true) return
  if (decision?.allow !== false || !isOptionalBoolean(decision.conceal)) {
    throw malformedDecision()
  }

  if (decision.conceal === true) throw concealed(request, decision.reason)
  if (actor === 'anonymous') throw new ForgeError('UNAUTHENTICATED', 'authentication is required')
  throw forbidden(request, decision.reason)
}

function malformedDecision(): TypeError {
  return new TypeError(
    'policy.authorize must return { allow: true } or { allow: false, reason }, with conceal: true to conceal',
  )
}

function isOfUser(call: Call): call is Call & PortContext<Actor | 'anonymous', OpenTransaction> {
  return call.actor !== 'system'
}

function isOptionalBoolean(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean'
}

function concealed(request: AccessRequest, reason: string): ForgeError {
  if (!Object.hasOwn(actionFacts, request.action)) {
    throw new TypeError(`unknown action ${JSON.stringify(request.action)}`)
  }
  const { concerns } = actionFacts[request.action]
  return concerns === undefined ? forbidden(request, reason) : notFound(concerns)
}

function forbidden({ action }: AccessRequest, reason: string): ForgeError {
  if (typeof reason !== 'string') throw malformedDecision()
  return new ForgeError('FORBIDDEN', reason, { action, reason })
}

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
const USER_ONLY = 'Must be the user who blocks'
const REPOSITORY_ROLES: readonly RepositoryRole[] = ['admin', 'writer', 'reader', 'none']
const ORGANIZATION_ROLES: readonly OrganizationRole[] = ['owner', 'member', 'stranger', 'none']
/** In characters. */
const MAX_NAMED_LENGTH = 40

/**
 * Creates a policy with Gitea's rules from functions that the host supplies. Site admins may do everything. Readers may
 * see boards and keys and export issues. Repository admins may pin and import issues. Organization owners may see and
 * change its blocks, and users their own. Only site admins may access badges and events, and attribute imported issues to accounts. 'anonymous'
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
    authorize: (request, context) => runMaybeAsync(decide(roles, request, context)),
  }
}

function needFunction(fact: unknown, name: keyof Roles<never, never>, what: string): void {
  need(typeof fact === 'function', 'rolePolicy', name, what)
}

function* decide(
  roles: Roles<Actor>,
  request: AccessRequest,
  context: PortContext<Actor | 'anonymous', unknown>,
): SyncOrAsync<AccessDecision> {
  const { actor } = context
  const isSignedIn = actor !== 'anonymous'
  if (isSignedIn) {
    const answer = roles.isSiteAdmin(actor)
    const isAdmin = isPromise(answer) ? yield* wait(answer) : answer
    if (typeof isAdmin !== 'boolean') throw malformed('isSiteAdmin', 'true or false', isAdmin)
    if (isAdmin) return ALLOWED
  }

  const least = leastRole(request)
  switch (least) {
    case 'repository reader':
    case 'repository admin': {
      const answer = roles.repositoryRole(idIn(request, 'repositoryId'), context)
      const role = isPromise(answer) ? yield* wait(answer) : answer
      checkRole('repositoryRole', REPOSITORY_ROLES, role)
      if (role === 'none') return CONCEALED
      return least === 'repository reader' || (role === 'admin' && isSignedIn) ? ALLOWED : refused(ADMINS_ONLY)
    }
    case 'organization owner': {
      const answer = roles.organizationRole(idIn(request, 'organizationId'), context)
      const role = isPromise(answer) ? yield* wait(answer) : answer
      checkRole('organizationRole', ORGANIZATION_ROLES, role)
      if (role === 'none') return CONCEALED
      return role === 'owner' && isSignedIn ? ALLOWED : refused(OWNERS_ONLY)
    }
    case 'the user':
      return isSignedIn && toId(actor.id, 'actor.id') === idIn(request, 'userId') ? ALLOWED : refused(USER_ONLY)
    case 'site admin':
      return refused('user should be the site admin')
  }
}

/** Returns the least role that may do what is requested. JavaScript callers may request an unknown action. */
function leastRole({ action }: AccessRequest): (typeof actionFacts)[Action]['allows'] {
  if (Object.hasOwn(actionFacts, action)) return actionFacts[action].allows
  throw new TypeError(`rolePolicy has no rule for the action ${JSON.stringify(action)}`)
}

/** Returns an id of the request. JavaScript callers may leave it out. */
function idIn(request: RequestedIds & AccessRequest, name: keyof RequestedIds): Id {
  const id = request[name]
  if (id !== undefined) return id
  throw new TypeError(`the action ${JSON.stringify(request.action)} needs the property ${name}`)
}

interface RequestedIds {
  readonly repositoryId?: Id | undefined
  readonly organizationId?: Id | undefined
  readonly userId?: Id | undefined
}

function refused(reason: string): AccessDecision {
  return { allow: false, reason }
}

function checkRole<R extends string>(name: keyof Roles<never, never>, roles: readonly R[], role: R): void {
  if (!roles.includes(role)) throw malformed(name, roles.map((known) => `'${known}'`).join(' or '), role)
}

/** The message names what a JavaScript host returned, without long or private content. `name` is what the host has written. */
export function malformed(name: string, expected: string, answer: unknown): TypeError {
  const text = typeof answer === 'string' ? answer.slice(0, MAX_NAMED_LENGTH) : undefined
  return new TypeError(`${name} must return ${expected}; it returned ${JSON.stringify(text) ?? typeof answer}`)
}
