import { isForgeError } from '../../schema/errors.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../schema/sync-or-async.ts'
import { BrokenReference, busy } from './errors.ts'

/** How long a call may take, in milliseconds. On SQLite, how long it waits for a busy file. */
export const MAX_CALL_MS = 5000

/** How a call is limited. */
export interface CallLimits {
  /** How long it may take, in milliseconds. Default: five seconds. */
  readonly milliseconds?: number
  /** Creates the error for a call that has run out of time. */
  readonly expired?: () => Error
}

/** Returns the limits of several parts of one call: each may take what those before it have left. */
export function limitsOfOneCall(): CallLimits {
  const end = performance.now() + MAX_CALL_MS
  return {
    get milliseconds() {
      return end - performance.now()
    },
  }
}

/** How long an attempt is repeated. */
export interface RetryLimits {
  /** Returns whether another attempt can begin after a pause of the given milliseconds. */
  readonly hasTimeAfter: (pause: number) => boolean
  /** Default: as many as the time allows. */
  readonly maxAttempts?: number
  /** The longest pause between two attempts, in milliseconds. Default: 40. */
  readonly maxPause?: number
}

/**
 * Repeats an attempt that has failed, if that was a definite abort, which leaves nothing of it. It never blocks the event
 * loop.
 *
 * @throws the error of the attempt if it was another; ForgeError `STORAGE_BUSY` if the attempts that the limits allow
 * were not enough
 */
export function retryAfter<T>(error: unknown, attempt: () => MaybePromise<T>, limits: RetryLimits): MaybePromise<T> {
  return runMaybeAsync(attemptsAfter(error, attempt, limits))
}

/** Returns limits that allow attempts for the given milliseconds from now. */
export function limitedTo(milliseconds: number): RetryLimits {
  const end = performance.now() + milliseconds
  return { hasTimeAfter: (pause) => performance.now() + pause < end }
}

/**
 * Returns a pause before the next attempt, in milliseconds. It is random, so that two callers do not collide
 * repeatedly.
 */
export function pauseBefore(attempt: number, maxPause = 40): number {
  return 1 + Math.random() * Math.min(maxPause, 4 * 2 ** attempt)
}

function* attemptsAfter<T>(
  first: unknown,
  attempt: () => MaybePromise<T>,
  { hasTimeAfter, maxAttempts = Number.POSITIVE_INFINITY, maxPause }: RetryLimits,
): SyncOrAsync<T> {
  let error = first
  for (let count = 1; ; count += 1) {
    const pause = pauseBefore(count, maxPause)
    if (!mayPass(error)) throw error
    if (count >= maxAttempts || !hasTimeAfter(pause)) throw asBusy(error)
    yield* wait(new Promise<void>((resolve) => setTimeout(resolve, pause)))
    try {
      return yield* wait(attempt())
    } catch (next) {
      error = next
    }
  }
}

function mayPass(error: unknown): boolean {
  return isForgeError(error, 'STORAGE_BUSY') || error instanceof BrokenReference
}

/** Returns the error for a call that is not decided again. */
export function asBusy(error: unknown): unknown {
  return error instanceof BrokenReference ? busy('call', error) : error
}
