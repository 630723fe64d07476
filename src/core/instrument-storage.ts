import type { ForgeErrorCode } from '../schema/errors.ts'
import { isForgeError } from '../schema/errors.ts'
import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../schema/sync-or-async.ts'
import type { EventStore } from '../storage/contract/events.ts'
import type { ForgeStorage } from '../storage/contract/storage.ts'
import type {
  AggregateStore,
  BadgeCatalogueStore,
  BlockStore,
  PinBoardStore,
  UserBadgesStore,
} from '../storage/contract/stores.ts'

/**
 * Wraps a storage so that each of its operations is reported after it has ended. The wrapped storage does the work and
 * gets every argument. An operation returns a promise only if the wrapped storage does.
 *
 * @param report - called with each operation; must not throw
 */
export function instrumentStorage<Tx>(
  storage: ForgeStorage<Tx>,
  report: (seen: ObservedOperation) => void,
): ForgeStorage<Tx> {
  const watch = instrumentCalls('storage', report)

  return {
    pinBoards: pinBoards(() => storage.pinBoards, instrumentCalls('pinBoards', report)),
    blocks: blocks(() => storage.blocks, instrumentCalls('blocks', report)),
    userBadges: userBadges(() => storage.userBadges, instrumentCalls('userBadges', report)),
    badgeCatalogue: badgeCatalogue(() => storage.badgeCatalogue, instrumentCalls('badgeCatalogue', report)),
    events: events(() => storage.events, instrumentCalls('events', report)),
    get transactions() {
      return storage.transactions
    },
    retire: (...given) => watch({ operation: 'retire', work: () => storage.retire(...given) }),
    checkTransaction: (...given) =>
      watch({ operation: 'checkTransaction', work: () => storage.checkTransaction(...given) }),
    migrate: async (...given) => watch({ operation: 'migrate', work: () => storage.migrate(...given) }),
    schemaStatus: async (...given) => watch({ operation: 'schemaStatus', work: () => storage.schemaStatus(...given) }),
    close: async (...given) => watch({ operation: 'close', work: () => storage.close(...given) }),
  }
}

function aggregate<Key, State, Tx>(
  store: () => AggregateStore<Key, State, Tx>,
  watch: Instrument,
): AggregateStore<Key, State, Tx> {
  return {
    epoch: (...given) => watch({ operation: 'epoch', work: () => store().epoch(...given) }),
    update: (...given) =>
      watch({
        operation: 'update',
        work: () => store().update(...given),
        outcome: ({ stale }) => (stale ? 'stale' : 'done'),
        signal: given[1].signal,
      }),
  }
}

function pinBoards<Tx>(store: () => PinBoardStore<Tx>, watch: Instrument): PinBoardStore<Tx> {
  return {
    ...aggregate(store, watch),
    load: (...given) => watch({ operation: 'load', work: () => store().load(...given) }),
  }
}

function blocks<Tx>(store: () => BlockStore<Tx>, watch: Instrument): BlockStore<Tx> {
  return {
    ...aggregate(store, watch),
    find: (...given) => watch({ operation: 'find', work: () => store().find(...given) }),
    among: (...given) => watch({ operation: 'among', work: () => store().among(...given) }),
    page: (...given) => watch({ operation: 'page', work: () => store().page(...given) }),
  }
}

function userBadges<Tx>(store: () => UserBadgesStore<Tx>, watch: Instrument): UserBadgesStore<Tx> {
  return {
    ...aggregate(store, watch),
    heldBy: (...given) => watch({ operation: 'heldBy', work: () => store().heldBy(...given) }),
  }
}

function badgeCatalogue<Tx>(store: () => BadgeCatalogueStore<Tx>, watch: Instrument): BadgeCatalogueStore<Tx> {
  return {
    ...aggregate(store, watch),
    find: (...given) => watch({ operation: 'find', work: () => store().find(...given) }),
    page: (...given) => watch({ operation: 'page', work: () => store().page(...given) }),
  }
}

function events<Tx>(store: () => EventStore<Tx>, watch: Instrument): EventStore<Tx> {
  return {
    read: (...given) => watch({ operation: 'read', work: () => store().read(...given) }),
    list: (...given) => watch({ operation: 'list', work: () => store().list(...given) }),
    history: (...given) => watch({ operation: 'history', work: () => store().history(...given) }),
    committed: (...given) => watch({ operation: 'committed', work: () => store().committed(...given) }),
    claim: (...given) => watch({ operation: 'claim', work: () => store().claim(...given) }),
    advance: (...given) => watch({ operation: 'advance', work: () => store().advance(...given) }),
    release: (...given) => watch({ operation: 'release', work: () => store().release(...given) }),
    forget: (...given) => watch({ operation: 'forget', work: () => store().forget(...given) }),
    prune: (...given) => watch({ operation: 'prune', work: () => store().prune(...given) }),
  }
}

/** One operation of the storage that has ended, for metrics. It contains no ids and no content. */
export interface ObservedOperation {
  /** The name of the store in the storage contract. `storage` for operations that concern all stores. */
  readonly store: 'pinBoards' | 'blocks' | 'userBadges' | 'badgeCatalogue' | 'events' | 'storage'
  /** The method of the contract: `update`, `epoch`, `load`, `page`, … Minor versions may add methods. */
  readonly operation: string
  /** The time from the call to its result, including all waits for locks and all retries. */
  readonly milliseconds: number
  /**
   * `done`: it succeeded; `stale`: a lifecycle call came in between, and the forge tries again; `refused`: a rule
   * refused it; `aborted`: the caller's signal aborted it; `failed`: the storage was busy, unavailable or not migrated,
   * or an unexpected error was thrown.
   */
  readonly outcome: 'done' | 'stale' | 'refused' | 'aborted' | 'failed'
  /** The code of the `ForgeError` that it threw. Undefined if it threw another error or none. */
  readonly code: ForgeErrorCode | undefined
}

/** A call to instrument. */
export interface InstrumentedCall<T> {
  readonly operation: string
  readonly work: () => MaybePromise<T>
  /** Returns the outcome for a result. Default: `done`. */
  readonly outcome?: ((answer: T) => 'done' | 'stale') | undefined
  readonly signal?: AbortSignal | undefined
}

/** Makes a call, reports how it ended, and returns its result. Returns a promise only if the call does. */
export type Instrument = <T>(call: InstrumentedCall<T>) => MaybePromise<T>

type Ending = Pick<ObservedOperation, 'outcome' | 'code'>

const DONE = (): 'done' => 'done'

/** The error codes for failures of the storage itself. Every other code means that a rule refused the operation. */
const FAULTS: ReadonlySet<ForgeErrorCode> = new Set([
  'STORAGE_BUSY',
  'STORAGE_UNAVAILABLE',
  'SCHEMA_OUTDATED',
  'SCHEMA_TOO_NEW',
])

/** Creates the function that instruments the calls of one store. */
function instrumentCalls(store: ObservedOperation['store'], report: (seen: ObservedOperation) => void): Instrument {
  return (call) =>
    runMaybeAsync(
      timed(call, (milliseconds, ending) => {
        report({ store, operation: call.operation, milliseconds, ...ending })
      }),
    )
}

function* timed<T>(
  { work, outcome = DONE, signal }: InstrumentedCall<T>,
  report: (milliseconds: number, ending: Ending) => void,
): SyncOrAsync<T> {
  const begun = performance.now()
  let answer: T
  try {
    answer = yield* wait(work())
  } catch (error) {
    report(performance.now() - begun, endingOf(error, signal))
    throw error
  }

  report(performance.now() - begun, { outcome: outcome(answer), code: undefined })
  return answer
}

function endingOf(error: unknown, signal: AbortSignal | undefined): Ending {
  if (signal?.aborted === true && error === signal.reason) return { outcome: 'aborted', code: undefined }
  if (!isForgeError(error)) return { outcome: 'failed', code: undefined }
  return { outcome: FAULTS.has(error.code) ? 'failed' : 'refused', code: error.code }
}
