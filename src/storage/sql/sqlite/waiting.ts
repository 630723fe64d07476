import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'

/** How long a call waits for a busy database, in milliseconds. */
export const MAX_WAIT_MS = 5000

const MAX_PAUSE_MS = 40

/**
 * Returns a pause before the next attempt, in milliseconds. It is random, so that two processes do not collide
 * repeatedly.
 */
export function pauseBefore(attempt: number): number {
  return 1 + Math.random() * Math.min(MAX_PAUSE_MS, 4 * attempt)
}

/**
 * Makes an attempt, and repeats it while the database is busy. Never blocks the event loop.
 *
 * @throws ForgeError `STORAGE_BUSY` after five seconds
 */
export function retry<T>(attempt: () => T): MaybePromise<T> {
  try {
    return attempt()
  } catch (error) {
    if (!isForgeError(error, 'STORAGE_BUSY')) throw error
    return tryAgain(attempt, performance.now() + MAX_WAIT_MS)
  }
}

async function tryAgain<T>(attempt: () => T, deadline: number): Promise<T> {
  for (let count = 1; ; count += 1) {
    await new Promise((resolve) => setTimeout(resolve, pauseBefore(count)))
    try {
      return attempt()
    } catch (error) {
      if (!isForgeError(error, 'STORAGE_BUSY') || performance.now() >= deadline) throw error
    }
  }
}
