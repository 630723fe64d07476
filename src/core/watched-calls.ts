import type { ForgeErrorCode } from '../schema/errors.ts'
import { isForgeError } from '../schema/errors.ts'
import type { MaybePromise, Steps } from '../schema/steps.ts'
import { run, wait } from '../schema/steps.ts'
import type { ObservedOperation } from './observed-operation.ts'

/** A call to be watched. */
export interface WatchedCall<T> {
  readonly operation: string
  readonly work: () => MaybePromise<T>
  /** How an answer ended the call. Default: `done`. */
  readonly outcome?: ((answer: T) => 'done' | 'stale') | undefined
  readonly signal?: AbortSignal | undefined
}

/** Makes a call, and tells how it ended; gives what the call gives, at once where that does. */
export type Watch = <T>(call: WatchedCall<T>) => MaybePromise<T>

type Ending = Pick<ObservedOperation, 'outcome' | 'code'>

const DONE = (): 'done' => 'done'

/** Of all codes, those that speak of the storage itself; every other is a rule that said no. */
const FAULTS: ReadonlySet<ForgeErrorCode> = new Set([
  'STORAGE_BUSY',
  'STORAGE_UNAVAILABLE',
  'SCHEMA_OUTDATED',
  'SCHEMA_TOO_NEW',
])

/** Watches the calls of one store. */
export function watchedCalls(store: ObservedOperation['store'], tell: (seen: ObservedOperation) => void): Watch {
  return (call) =>
    run(
      timed(call, (milliseconds, ending) => {
        tell({ store, operation: call.operation, milliseconds, ...ending })
      }),
    )
}

function* timed<T>(
  { work, outcome = DONE, signal }: WatchedCall<T>,
  tell: (milliseconds: number, ending: Ending) => void,
): Steps<T> {
  const begun = performance.now()
  let answer: T
  try {
    answer = yield* wait(work())
  } catch (error) {
    tell(performance.now() - begun, endingOf(error, signal))
    throw error
  }

  tell(performance.now() - begun, { outcome: outcome(answer), code: undefined })
  return answer
}

function endingOf(error: unknown, signal: AbortSignal | undefined): Ending {
  if (signal?.aborted === true && error === signal.reason) return { outcome: 'aborted', code: undefined }
  if (!isForgeError(error)) return { outcome: 'failed', code: undefined }
  return { outcome: FAULTS.has(error.code) ? 'failed' : 'refused', code: error.code }
}
