import { closedError, isForgeError } from '../../../schema/errors.ts'
import { BrokenReference, unavailable } from '../server/failures.ts'

/** What Kysely itself says of a transaction that is used after its end. Versions before 0.28 say nothing. */
const ENDED = /^Transaction is already (committed|rolled back)$/

/** What Kysely itself says once it was destroyed. */
const DESTROYED = /^driver has already been destroyed$/

/** What Kysely itself says where a connection can be used no more. */
const DISCARDED = /^\w+ connection has been discarded$/

/**
 * The error to throw for what Kysely itself threw, or we did: TypeError for a transaction that has ended,
 * `STORAGE_UNAVAILABLE` for a Kysely that was destroyed. Undefined when it was neither: then its driver did.
 */
export function translateKyselyError(error: unknown): unknown {
  if (isForgeError(error) || error instanceof BrokenReference) return error
  if (!(error instanceof Error)) return undefined
  if (ENDED.test(error.message)) return new TypeError('the transaction has ended', { cause: error })
  if (DESTROYED.test(error.message)) return closedError('the Kysely of the storage was destroyed', error)
  return DISCARDED.test(error.message) ? unavailable('the Kysely of the storage was destroyed', error) : undefined
}

/** The error to throw where no connection was given, or no transaction begun. */
export function notGiven(translated: unknown): unknown {
  if (isForgeError(translated) || translated instanceof TypeError) return translated
  return unavailable('Kysely gives no connection to the database', translated)
}
