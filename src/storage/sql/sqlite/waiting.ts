import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'

/** How long a call waits for a busy database, in milliseconds. */
export const PATIENCE = 5000

const LONGEST_PAUSE = 40

/** A pause before trying again, in milliseconds: random, so that two processes do not meet again and again. */
export function pauseBefore(attempt: number): number {
  return 1 + Math.random() * Math.min(LONGEST_PAUSE, 4 * attempt)
}

/**
 * Makes an attempt, and again while the database is busy. The event loop never sleeps.
 *
 * @throws ForgeError `STORAGE_BUSY` after five seconds
 */
export function whenFree<T>(attempt: () => T): MaybePromise<T> {
  try {
    return attempt()
  } catch (error) {
    if (!isForgeError(error, 'STORAGE_BUSY')) throw error
    return tryAgain(attempt, performance.now() + PATIENCE)
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
