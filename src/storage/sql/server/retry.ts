import { isForgeError } from '../../../schema/errors.ts'
import type { CallDeadline } from './call-deadline.ts'
import { BrokenReference, busy } from './failures.ts'

const MAX_ATTEMPTS = 10
const MAX_PAUSE_MS = 200

/**
 * Makes an attempt, and repeats it after a definite abort, which leaves nothing of the first.
 *
 * @throws ForgeError `STORAGE_BUSY` if ten attempts, or the time that the call may wait for others, were not enough
 */
export async function retry<T>(deadline: CallDeadline, attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!mayPass(error)) throw error

      const pause = pauseAfter(count)
      if (count >= MAX_ATTEMPTS || !deadline.hasTimeAfter(pause)) throw asBusy(error)
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

/**
 * Returns a pause before the next attempt, in milliseconds. It is random, so that two calls do not collide repeatedly.
 */
function pauseAfter(count: number): number {
  return 1 + Math.random() * Math.min(MAX_PAUSE_MS, 4 * 2 ** count)
}

function mayPass(error: unknown): boolean {
  return isForgeError(error, 'STORAGE_BUSY') || error instanceof BrokenReference
}

function asBusy(error: unknown): unknown {
  return error instanceof BrokenReference ? busy('call', error) : error
}
