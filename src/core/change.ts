import { ForgeError } from '../schema/errors.ts'
import type { SyncOrAsync } from '../schema/sync-or-async.ts'
import { wait } from '../schema/sync-or-async.ts'
import type { AggregateStore, ChangeDecision, Outcome } from '../storage/contract/stores.ts'
import type { Call, Scope } from './call.ts'
import { writeContext } from './call.ts'
import type { Actor } from './ports.ts'

const MAX_ATTEMPTS = 20

/** A decision that a store can run under its lock. */
export type Decide<State, Result> = ChangeDecision<State, Result>['decide']

/** Changes one aggregate: decides under its lock, and announces the events. */
export function* change<Key, State, Result, A extends Actor, Tx>(
  scope: Scope<A, Tx>,
  call: Call<A, Tx>,
  store: AggregateStore<Key, State, Tx>,
  key: Key,
  decide: Decide<State, Result>,
): SyncOrAsync<Result> {
  const outcome = yield* attempt(scope, call, store, key, { expectedEpoch: undefined, decide })
  if (outcome.stale) throw new TypeError('a change without an expected epoch cannot be stale')

  scope.announce(outcome.events)
  return outcome.result
}

/**
 * Changes one aggregate according to what a port says about it. If a lifecycle call came in between, it starts again,
 * so that the decision does not rest on what is no longer so. Source: docs/storage.md, section 2.
 *
 * @param ask - asks the ports, and returns the decision that follows
 * @throws ForgeError `STORAGE_BUSY` when a lifecycle call came in between at every attempt
 */
export function* changeFenced<Key, State, Result, A extends Actor, Tx>(
  scope: Scope<A, Tx>,
  call: Call<A, Tx>,
  store: AggregateStore<Key, State, Tx>,
  key: Key,
  ask: () => SyncOrAsync<Decide<State, Result>>,
): SyncOrAsync<Result> {
  for (let count = 1; count <= MAX_ATTEMPTS; count += 1) {
    const expectedEpoch = yield* wait(store.epoch(key, scope.transaction))
    const outcome = yield* attempt(scope, call, store, key, { expectedEpoch, decide: yield* ask() })
    if (outcome.stale) continue

    scope.announce(outcome.events)
    return outcome.result
  }

  // An isolated transaction of the host keeps seeing the old epoch; only a new transaction sees the new one.
  const retry = scope.transaction === undefined ? 'call' : 'host-transaction'
  throw new ForgeError('STORAGE_BUSY', 'too many concurrent lifecycle calls; try again', { retry })
}

function attempt<Key, State, Result, A extends Actor, Tx>(
  scope: Scope<A, Tx>,
  call: Call<A, Tx>,
  store: AggregateStore<Key, State, Tx>,
  key: Key,
  decided: { readonly expectedEpoch: number | undefined; readonly decide: Decide<State, Result> },
): SyncOrAsync<Outcome<Result>> {
  return wait(store.update(key, { signal: call.signal, ...decided, ...writeContext(scope, call) }))
}
