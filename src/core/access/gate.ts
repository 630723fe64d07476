import type { AccessDecision, AccessRequest } from '../../schema/access.ts'
import { needObject } from '../../schema/arguments.ts'
import { ForgeError, notFound } from '../../schema/errors.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { Call } from '../call.ts'
import { answerOf, checkAsker, portContext } from '../call.ts'
import type { Environment } from '../environment.ts'
import type { Actor } from '../ports.ts'

/** Whether the policy is asked about this call. */
export function asksPolicy<A extends Actor, Tx>(call: Call<A, Tx>): boolean {
  return call.guarded && call.actor !== 'system'
}

/**
 * Asks the policy, where it is asked.
 *
 * @throws ForgeError concealed: the thing's `*_NOT_FOUND`; 'anonymous': `UNAUTHENTICATED`; else `FORBIDDEN`. TypeError when
 * the policy's answer is malformed.
 * Source: docs/behaviour.md, Everywhere
 */
export function* authorize<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  request: AccessRequest,
): SyncOrAsync<void> {
  refuseAborted(call)
  checkAsker(call.actor)
  if (call.guarded) yield* askPolicy(environment, call, request)
}

/** Refuses a call that its caller has given up before it began. The routes give up where they wait. */
export function refuseAborted<A extends Actor, Tx>(call: Call<A, Tx>): void {
  if (call.guarded) call.signal?.throwIfAborted()
}

/**
 * Asks the policy: for the routes, which ask it before they look at a request any further.
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

  const verdict = yield* answerOf(call, environment.policy.authorize(request, portContext(call, actor)))
  checkVerdict(verdict)
  if (verdict.allow) return
  if (verdict.conceal === true) throw concealed(request, verdict.reason)
  if (actor === 'anonymous') throw new ForgeError('UNAUTHENTICATED', 'authentication is required')
  throw forbidden(request, verdict.reason)
}

/** JavaScript hosts may return anything. A decision that is malformed, by a database's `'t'` or 1 for example, decides nothing. */
function checkVerdict(verdict: AccessDecision): void {
  if (verdict?.allow === true) return
  if (verdict?.allow === false && (verdict.conceal === undefined || typeof verdict.conceal === 'boolean')) return

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
      return forbidden(request, reason) // there is nothing of the host's to conceal
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
