import { quietly } from './quietly.ts'
import { isPromise } from './steps.ts'

/** What of a host's logger tells that his observer fails. */
interface Warned {
  warn(message: string, fields: object): void
}

/**
 * Makes an observer of the host's harmless: what it throws, or rejects with, is told to the logger the first time, and
 * changes nothing.
 */
export function harmless<Seen>(observe: (seen: Seen) => unknown, logger: Warned | undefined): (seen: Seen) => void {
  let hasFailed = false
  const failed = (error: unknown): void => {
    if (!hasFailed) warn(logger, error)
    hasFailed = true
  }
  return (seen) => {
    try {
      const answer = observe(seen)
      if (isPromise(answer)) Promise.resolve(answer).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

function warn(logger: Warned | undefined, error: unknown): void {
  quietly(() => logger?.warn('the observer failed; later failures of it are not logged', { error }))
}
