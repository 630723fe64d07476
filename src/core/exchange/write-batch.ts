import { isForgeError } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import type { Decision, EventDraft, ForgeEvent } from '../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { Call, CallContext, OpenTransaction, Scope } from '../call.ts'
import { runIn, writeContext } from '../call.ts'

const MAX_BUSY_MS = 60_000
const MAX_PAUSE_MS = 1000
/** How long batches may keep the event loop from everything else, in milliseconds. */
const TURN_MS = 10

/** The repository whose issues a call writes, batch by batch. */
export interface BatchJob {
  readonly scope: Scope
  readonly call: Call
  readonly repositoryId: Id
}

/** What was decided about one batch. */
export interface PlannedBatch<Plan> {
  readonly plan: Plan
  /** Undefined: nothing is written. */
  readonly event: EventDraft | undefined
  write(): MaybePromise<void>
}

/** Looks up what the host has, and decides what is written. `context` is that of the transaction. */
type PlanBatch<Plan> = (context: CallContext) => SyncOrAsync<PlannedBatch<Plan>>

/** Plans and writes a batch in one transaction. Waits for a busy database. Returns the plan that was written. */
export function* writeBatch<Plan>(job: BatchJob, plan: PlanBatch<Plan>): SyncOrAsync<Plan> {
  const { scope, call } = job
  const ownsTransaction = scope.transaction === undefined && scope.mayWait
  const until = performance.now() + MAX_BUSY_MS
  for (let attempt = 1; ; attempt += 1) {
    try {
      return yield* attemptOf(job, plan)
    } catch (error) {
      // Whatever a busy storage says of a retry: the batch is a transaction of its own.
      if (!ownsTransaction || !isForgeError(error, 'STORAGE_BUSY') || performance.now() >= until) throw error
    }
    yield* wait(pause(Math.min(MAX_PAUSE_MS, 25 * 2 ** attempt)))
    call.signal?.throwIfAborted()
  }
}

/** One attempt to write a batch. */
interface Attempt<Plan> {
  /** Set by each attempt of the storage, and used by what follows in the same attempt. */
  planned: PlannedBatch<Plan> | undefined
}

function* attemptOf<Plan>({ scope, call, repositoryId }: BatchJob, plan: PlanBatch<Plan>): SyncOrAsync<Plan> {
  const { actor, signal } = call
  const attempt: Attempt<Plan> = { planned: undefined }
  const outcome = yield* wait(
    scope.environment.storage.issueImports.update<Plan>(
      { repositoryId },
      {
        prepare: (_state, transaction) => runIn(scope, decisionOf(attempt, plan({ actor, transaction, signal }))),
        ...writeContext(scope, call),
        beforeCommit: (events, transaction) => runIn(scope, committed(scope, attempt, events, transaction)),
        signal,
      },
    ),
  )
  scope.announce(outcome.events)
  return outcome.result
}

/** Returns what the storage decides: the state stays as it is. */
function* decisionOf<State, Plan>(
  attempt: Attempt<Plan>,
  steps: SyncOrAsync<PlannedBatch<Plan>>,
): SyncOrAsync<(state: State) => Decision<State, Plan, EventDraft>> {
  const planned = yield* steps
  attempt.planned = planned
  const events = planned.event === undefined ? [] : [planned.event]
  return (state) => ({ state, events, result: planned.plan })
}

// Not inside the call: V8 keeps the hidden class of each generator function until a full collection, and what it refers to.
function* committed(
  scope: Scope,
  { planned }: Attempt<unknown>,
  events: readonly ForgeEvent[],
  transaction: OpenTransaction,
): SyncOrAsync<void> {
  if (planned?.event !== undefined) yield* wait(planned.write())
  yield* wait(scope.beforeCommit?.(events, transaction))
}

/** Returns a function that lets the event loop turn between batches, if it has not for a while. */
export function eventLoopTurns({ mayWait }: { readonly mayWait: boolean }): () => SyncOrAsync<void> {
  let turnedAt = performance.now()
  return function* turn() {
    if (!mayWait || performance.now() - turnedAt < TURN_MS) return

    yield* wait(pause(0))
    turnedAt = performance.now()
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
