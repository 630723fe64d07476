import { ForgeError } from '../schema/errors.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { isPromise, runMaybeAsync, runSync, wait } from '../schema/sync-or-async.ts'
import type { AggregateStore, ChangeDecision, PreparedDecision } from '../storage/contract/stores.ts'
import type { Call } from './call.ts'
import { writeContext } from './call.ts'
import type { Environment } from './environment.ts'
import type { Actor } from './ports.ts'

const MAX_ATTEMPTS = 20

/** A decision that a store can run under its lock. */
export type Decide<State, Result> = ChangeDecision<State, Result>['decide']

/** One change of one aggregate, and what must be asked before it can be decided. */
export interface PlannedChange<Key, State, Result, Tx, Prepared = undefined> {
  readonly store: AggregateStore<Key, State, Tx>
  readonly key: Key
  /** Whether `ask` looks anything up that a lifecycle call could overtake. */
  readonly fenced: boolean
  /**
   * Asks the ports and returns the decision that follows: a function, or `{ prepare, decide }` if something must be
   * looked up under the lock. Runs again if a lifecycle call came in between.
   */
  readonly ask: () => MaybePromise<Decide<State, Result> | PreparedDecision<State, Result, Tx, Prepared>>
}

/**
 * Runs a change: reads the epoch, asks the ports, and decides under the lock. If a lifecycle call came in between, it
 * starts again, so that no decision rests on something that has been deleted. Source: docs/storage.md, section 2.
 *
 * @throws ForgeError `STORAGE_BUSY` when a lifecycle call came in between at every attempt
 */
export function change<Key, State, Result, A extends Actor, Tx, Prepared = undefined>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  planned: PlannedChange<Key, State, Result, Tx, Prepared>,
): MaybePromise<Result> {
  const steps = attempts(environment, call, planned)
  return call.mayWait ? runMaybeAsync(steps) : runSync(steps)
}

function* attempts<Key, State, Result, A extends Actor, Tx, Prepared>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  planned: PlannedChange<Key, State, Result, Tx, Prepared>,
): SyncOrAsync<Result> {
  let spentMilliseconds = 0
  const spend = (milliseconds: number): void => {
    spentMilliseconds += milliseconds
  }
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const expectedEpoch = planned.fenced
      ? yield* timed(planned.store.epoch(planned.key, call.transaction), spend)
      : undefined
    const decision = yield* wait(planned.ask())
    const { by, beforeCommit, transaction } = writeContext(environment, call)
    const outcome = yield* timed(
      planned.store.update(planned.key, {
        by,
        beforeCommit,
        transaction,
        expectedEpoch,
        spentMilliseconds,
        signal: call.changeSignal,
        ...(typeof decision === 'function' ? { decide: decision } : decision),
      }),
      spend,
    )
    if (outcome.stale) continue

    call.announce(outcome.events)
    return outcome.result
  }

  // An isolated transaction of the host keeps seeing the old epoch; only a new transaction sees the new one.
  const retry = call.transaction === undefined ? 'call' : 'host-transaction'
  throw new ForgeError('STORAGE_BUSY', 'too many concurrent lifecycle calls; try again', { retry })
}

/** Waits for an answer of the storage and reports how long it took. Reads no clock if the answer is synchronous. */
function timed<T>(answer: MaybePromise<T>, report: (milliseconds: number) => void): SyncOrAsync<T> {
  return isPromise(answer) ? timedPromise(answer, report) : wait(answer)
}

function* timedPromise<T>(answer: Promise<T>, report: (milliseconds: number) => void): SyncOrAsync<T> {
  const start = performance.now()
  const value = yield* wait(answer)
  report(performance.now() - start)
  return value
}
