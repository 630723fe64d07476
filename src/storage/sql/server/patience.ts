import { isForgeError } from '../../../schema/errors.ts'
import { BrokenReference, busy } from './failures.ts'

/** How long a call goes on trying, in milliseconds; how often; and how long an attempt waits for one lock at most. */
const PATIENCE = 5000
const MOST_ATTEMPTS = 10
const LONGEST_LOCK_WAIT = 4000
const SHORTEST_LOCK_WAIT = 100

const LONGEST_PAUSE = 200

/**
 * Makes an attempt, and again after a definite abort: nothing of the first is left then.
 *
 * @param attempt - is told how long it may wait for a lock, in milliseconds
 * @throws ForgeError `STORAGE_BUSY` when five seconds or ten attempts were not enough
 */
export async function whenFree<T>(attempt: (lockWait: number) => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE
  for (let count = 1; ; count += 1) {
    try {
      return await attempt(lockWaitUntil(deadline))
    } catch (error) {
      if (!mayPass(error)) throw error

      const pause = pauseAfter(count)
      if (count >= MOST_ATTEMPTS || performance.now() + pause >= deadline) throw asBusy(error)
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

function lockWaitUntil(deadline: number): number {
  const left = Math.floor(deadline - performance.now())
  return Math.max(SHORTEST_LOCK_WAIT, Math.min(LONGEST_LOCK_WAIT, left))
}

/** A pause before trying again, in milliseconds: random, so that two that met do not meet again and again. */
function pauseAfter(count: number): number {
  return 1 + Math.random() * Math.min(LONGEST_PAUSE, 4 * 2 ** count)
}

function mayPass(error: unknown): boolean {
  return isForgeError(error, 'STORAGE_BUSY') || error instanceof BrokenReference
}

function asBusy(error: unknown): unknown {
  return error instanceof BrokenReference ? busy('call', error) : error
}
