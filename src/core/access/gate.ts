import type { AccessDecision, AccessRequest } from '../../schema/access.ts'
import { needObject } from '../../schema/arguments.ts'
import { ForgeError, notFound } from '../../schema/errors.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { Call } from '../call.ts'
import { answerOf, checkCaller, portContext } from '../call.ts'
import type { Environment } from '../environment.ts'
import type { Actor } from '../ports.ts'

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
export function* authorize<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  request: AccessRequest,
): SyncOrAsync<void> {
  refuseAborted(call)
  checkCaller(call.actor)
  if (call.guarded) yield* askPolicy(environment, call, request)
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
export function* askPolicy<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  request: AccessRequest,
): SyncOrAsync<void> {
  needObject(request, 'request', "{ action: 'pins.read', repositoryId: 10 }")
  const { actor } = call
  if (actor === 'system') return

  const decision = yield* answerOf(call, environment.policy.authorize(request, portContext(call, actor)))
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
  switch (request.action) {
    case 'pins.read':
    case 'pins.write':
    case 'signing-keys.read':
    case 'issues.import':
    case 'issues.export':
      return notFound('repository')
    case 'blocks.read':
    case 'blocks.write':
      return notFound('organization')
    case 'badges.read':
    case 'badges.grant':
      return notFound('user')
    case 'badges.catalogue.read':
    case 'badges.catalogue.write':
    case 'events.read':
      return forbidden(request, reason) // the request concerns no object of the host that could be concealed
    default:
      throw unknownAction(request satisfies never)
  }
}

function forbidden(request: AccessRequest, reason: string): ForgeError {
  return new ForgeError('FORBIDDEN', reason, { action: request.action, reason })
}

function unknownAction({ action }: AccessRequest): TypeError {
  return new TypeError(`there is no action ${JSON.stringify(action)}`)
}
