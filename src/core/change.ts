import type { Decision } from '../schema/decision.ts'
import { ForgeError } from '../schema/errors.ts'
import type { EventDraft } from '../schema/events.ts'
import type { SyncOrAsync } from '../schema/sync-or-async.ts'
import { wait } from '../schema/sync-or-async.ts'
import type { AggregateStore } from '../storage/contract/stores.ts'
import type { Call } from './call.ts'
import { writeContext } from './call.ts'
import type { Environment } from './environment.ts'
import type { Actor } from './ports.ts'

const MOST_ATTEMPTS = 20

/** A decision that a store can run under its lock. */
export type Decide<State, Result> = (state: State, at: Date) => Decision<State, Result, EventDraft>

/** One change of one aggregate, and what must be asked before it can be decided. */
export interface PlannedChange<Key, State, Result, Tx> {
  readonly store: AggregateStore<Key, State, Tx>
  readonly key: Key
  /** Whether `ask` looks anything up that a lifecycle call could overtake. */
  readonly fenced: boolean
  /** Asks the ports, and gives the decision their answers lead to. Runs again when a lifecycle call came between. */
  readonly ask: () => SyncOrAsync<Decide<State, Result>>
}

/**
 * The way of every change: read the epoch, ask the ports, decide under the lock; once more from the top when a lifecycle
 * call came in between, so that no decision stands on what is gone. Source: docs/storage.md, section 2.
 *
 * @throws ForgeError `STORAGE_BUSY` when lifecycle calls came between every time
 */
export function* change<Key, State, Result, A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  call: Call<A, Tx>,
  planned: PlannedChange<Key, State, Result, Tx>,
): SyncOrAsync<Result> {
  let spentMilliseconds = 0
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const start = performance.now()
    const seen = planned.fenced ? yield* wait(planned.store.epoch(planned.key, call.transaction)) : undefined
    spentMilliseconds += performance.now() - start
    const decide = yield* planned.ask()
    const written = performance.now()
    const outcome = yield* wait(
      planned.store.update(planned.key, {
        expectedEpoch: seen,
        decide,
        spentMilliseconds,
        signal: call.signal,
        ...writeContext(environment, call),
      }),
    )
    spentMilliseconds += performance.now() - written
    if (outcome.stale) continue

    call.announce(outcome.events)
    return outcome.result
  }

  // A host's isolated transaction would see the old epoch for ever; only a new one can see the new.
  const retry = call.transaction === undefined ? 'call' : 'host-transaction'
  throw new ForgeError('STORAGE_BUSY', 'too many lifecycle calls came in between; try again', { retry })
}
