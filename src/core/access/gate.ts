import type { AccessDecision, AccessRequest } from '../../schema/access.ts'
import { actionFacts } from '../../schema/access.ts'
import { needObject } from '../../schema/arguments.ts'
import { ForgeError, notFound } from '../../schema/errors.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import type { Call } from '../call.ts'
import { checkCaller, portAnswerOf, portContext } from '../call.ts'
import type { Environment } from '../environment.ts'
import type { Actor, Caller } from '../ports.ts'

/** Returns whether the policy is asked about this call. */
export function asksPolicy<A extends Actor, Tx>(call: Call<A, Tx>): boolean {
  return call.guarded && call.actor !== 'system'
}

/**
 * Checks the caller and, for a guarded call, asks the policy.
 *
 * @throws ForgeError the `*_NOT_FOUND` of the object if the policy conceals it; `UNAUTHENTICATED` for 'anonymous';
 * otherwise `FORBIDDEN`. TypeError when the policy's decision is malformed.
 * Source: docs/behaviour.md, Everywhere
 */
export function authorize<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  request: AccessRequest,
): MaybePromise<void> {
  refuseAborted(call)
  checkCaller(call.actor)
  return call.guarded ? askPolicy(environment, call, request) : undefined
}

/**
 * Throws if the caller's signal aborted before the call began. The HTTP routes check the signal only when they wait.
 */
export function refuseAborted<A extends Actor, Tx>(call: Call<A, Tx>): void {
  if (call.guarded) call.signal?.throwIfAborted()
}

/**
 * Asks the policy. The HTTP routes call this before they read the rest of a request.
 *
 * @throws ForgeError as `authorize` does
 */
export function askPolicy<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  request: AccessRequest,
): MaybePromise<void> {
  needObject(request, 'request', "{ action: 'pins.read', repositoryId: 10 }")
  const { actor } = call
  if (actor === 'system') return undefined

  const decision = portAnswerOf(call, environment.policy.authorize(request, portContext(call, actor)))
  return after(decision, (decided) => enforce(decided, request, actor))
}

/** Throws the error that a decision means for the caller, unless it allows the request. */
function enforce<A extends Actor>(decision: AccessDecision, request: AccessRequest, actor: Caller<A>): void {
  checkDecision(decision)
  if (decision.allow) return
  if (decision.conceal === true) throw concealed(request, decision.reason)
  if (actor === 'anonymous') throw new ForgeError('UNAUTHENTICATED', 'authentication is required')
  throw forbidden(request, decision.reason)
}

/**
 * Checks a decision, because a JavaScript host may return any value. A malformed decision, such as one with a
 * database's `'t'` or 1 instead of a boolean, neither allows nor refuses.
 */
function checkDecision(decision: AccessDecision): void {
  if (decision?.allow === true) return
  if (decision?.allow === false && (decision.conceal === undefined || typeof decision.conceal === 'boolean')) return

  throw new TypeError(
    'policy.authorize must return { allow: true } or { allow: false, reason }, with conceal: true to conceal',
  )
}

function concealed(request: AccessRequest, reason: string): ForgeError {
  if (!Object.hasOwn(actionFacts, request.action)) throw unknownAction(request)

  const { concerns } = actionFacts[request.action]
  return concerns === undefined ? forbidden(request, reason) : notFound(concerns)
}

function forbidden(request: AccessRequest, reason: string): ForgeError {
  return new ForgeError('FORBIDDEN', reason, { action: request.action, reason })
}

function unknownAction({ action }: AccessRequest): TypeError {
  return new TypeError(`unknown action ${JSON.stringify(action)}`)
}
