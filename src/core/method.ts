import type { AccessRequest } from '../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { isDone } from '../schema/sync-or-async.ts'
import type { Call, Scope } from './call.ts'
import { authorize } from './policy.ts'
import type { Actor, Caller, CallOptions } from './ports.ts'

/** A checked input, and what the policy is asked about it. */
export interface Checked {
  /** Undefined: anyone may do this. */
  readonly access: AccessRequest | readonly AccessRequest[] | undefined
}

/**
 * Creates a service method. Every call checks its input, asks the policy, and then takes its steps: in this order, and at once
 * where nothing waits, so that the caller may change the input afterwards.
 *
 * The steps are a function of the service, not of the call, because to create a generator function takes a microsecond.
 *
 * @param check - checks an input, and says what it needs access to. @throws TypeError
 */
export function method<Input, Options extends CallOptions, Valid extends Checked, T>(
  scope: Scope,
  check: (input: Input, options: Options | undefined) => Valid,
  steps: (call: Call, checked: Valid) => SyncOrAsync<T>,
): (actor: Caller<Actor>, input: Input, options?: Options) => MaybePromise<T> {
  function* behind(asking: SyncOrAsync<void>, call: Call, checked: Valid): SyncOrAsync<T> {
    yield* asking
    return yield* steps(call, checked)
  }
  const stepsOf = (call: Call, input: Input, options: Options | undefined): SyncOrAsync<T> => {
    const checked = check(input, options)
    const asking = authorize(scope, call, checked.access)
    return isDone(asking) ? steps(call, checked) : behind(asking, call, checked)
  }
  return (actor, input, options) => scope.run(actor, options, (call) => stepsOf(call, input, options))
}

/** Creates a service method for the host's own code: it has no caller, and the policy is not asked. */
export function hostMethod<Input, T>(
  scope: Scope,
  steps: (call: Call, input: Input) => SyncOrAsync<T>,
): (input: Input) => MaybePromise<T> {
  return (input) => scope.run('system', undefined, (call) => steps(call, input))
}
