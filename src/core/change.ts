import { ForgeError } from '../schema/errors.ts'
import type { Decision, EventDraft, EventSubject, RuleEvent } from '../schema/records.ts'
import type { SyncOrAsync } from '../schema/sync-or-async.ts'
import { wait } from '../schema/sync-or-async.ts'
import type { AggregateStore, BlockKey, BlockState } from '../storage/contract/stores.ts'
import type { Call, OpenTransaction, Scope } from './call.ts'
import { writeContext } from './call.ts'

const MAX_ATTEMPTS = 20

/** Decides by a rule what becomes of a state. A store runs it under its lock. */
export type Decide<State, Result> = (state: State, at: Date) => Decision<State, Result>

/** Adds the subject to an event of a rule. */
export function withSubject(subject: Partial<EventSubject>, event: RuleEvent): EventDraft {
  const { organizationId = null, repositoryId = null, issueId = null, userId = null } = subject
  return { organizationId, repositoryId, issueId, userId, ...event }
}

/**
 * Changes one aggregate: decides under its lock, and announces the events.
 *
 * @param subject - that of the events
 */
export function* change<Key, State, Result>(
  scope: Scope,
  call: Call,
  store: AggregateStore<Key, State, OpenTransaction>,
  key: Key,
  subject: Partial<EventSubject>,
  rule: Decide<State, Result>,
): SyncOrAsync<Result> {
  const decide = (before: State, at: Date): Decision<State, Result, EventDraft> => {
    const { state, events, result } = rule(before, at)
    return { state, events: events.map((event) => withSubject(subject, event)), result }
  }
  const written = store.update(key, { decide, signal: call.signal, ...writeContext(scope, call) })
  const { events, result } = yield* wait(written)
  scope.announce(events)
  return result
}

/**
 * Changes a block according to what the ports say. If the storage reads the members under its lock, there is nothing to ask
 * again. If the host reported a new member in the meantime, it starts again,
 * so that the decision does not rest on an old membership. Source: docs/storage.md, section 2.
 *
 * @param ask - asks the ports, and returns the decision that follows
 * @throws ForgeError `STORAGE_BUSY` when a member was reported at every attempt
 */
export function* changeBlock<Result>(
  scope: Scope,
  call: Call,
  key: BlockKey,
  ask: () => SyncOrAsync<Decide<BlockState, Result>>,
): SyncOrAsync<Result> {
  const { storage, membership } = scope.environment
  const { blocks } = storage
  for (let count = 1; count <= MAX_ATTEMPTS; count += 1) {
    const epoch =
      membership === undefined ? undefined : yield* wait(blocks.epoch(key.organizationId, scope.transaction))
    const decide = yield* ask()
    const changed = yield* change(scope, call, blocks, key, key, (state, at) => {
      if (epoch !== undefined && state.epoch !== epoch) return { state, events: [], result: undefined }
      const decision = decide(state, at)
      return { ...decision, result: { result: decision.result } }
    })
    if (changed !== undefined) return changed.result
  }

  // An isolated transaction of the host keeps seeing the old epoch; only a new transaction sees the new one.
  const retry = scope.transaction === undefined ? 'call' : 'host-transaction'
  throw new ForgeError('STORAGE_BUSY', 'too many concurrent lifecycle calls; try again', { retry })
}
