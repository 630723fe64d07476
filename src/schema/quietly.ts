import { isPromise } from './steps.ts'

/** Calls a logger of the host's: what it throws, or rejects with, changes nothing, and has nowhere left to be told. */
export function quietly(call: () => unknown): void {
  try {
    const answer = call()
    if (isPromise(answer)) Promise.resolve(answer).catch(() => undefined)
  } catch {
    // nobody to tell
  }
}
