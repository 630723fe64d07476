import { closedError, isForgeError } from '../../../schema/errors.ts'
import { BrokenReference, unavailable } from '../server/failures.ts'

/** The message of Kysely for a transaction that is used after its end. Versions before 0.28 have none. */
const ENDED = /^Transaction is already (committed|rolled back)$/

/** The message of Kysely after it was destroyed. */
const DESTROYED = /^driver has already been destroyed$/

/** The message of Kysely for a connection that can no longer be used. */
const DISCARDED = /^\w+ connection has been discarded$/

/**
 * Returns the error to throw for an error of Kysely itself, or of the library: TypeError for a transaction that has
 * ended, `STORAGE_UNAVAILABLE` for a Kysely that was destroyed. Undefined if it came from the driver.
 */
export function translateKyselyError(error: unknown): unknown {
  if (isForgeError(error) || error instanceof BrokenReference) return error
  if (!(error instanceof Error)) return undefined
  if (ENDED.test(error.message)) return new TypeError('the transaction has ended', { cause: error })
  if (DESTROYED.test(error.message)) return closedError('the Kysely of the storage was destroyed', error)
  return DISCARDED.test(error.message) ? unavailable('the Kysely of the storage was destroyed', error) : undefined
}

/** Returns the error to throw if no connection was provided, or no transaction begun. */
export function notGiven(translated: unknown): unknown {
  if (isForgeError(translated) || translated instanceof TypeError) return translated
  return unavailable('Kysely gives no connection to the database', translated)
}
