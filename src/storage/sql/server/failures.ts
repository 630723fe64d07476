import { ForgeError } from '../../../schema/errors.ts'

/** What the caller must run again after a definite abort: the call, or the host's whole transaction. */
export type Retry = 'call' | 'host-transaction'

/**
 * Thrown when one of our foreign keys refused a row: the row it refers to has just been removed, or is itself referred
 * to. The change must be decided again.
 */
export class BrokenReference extends Error {
  override readonly name = 'BrokenReference'

  /** @param cause - the driver's error */
  constructor(cause: unknown) {
    super('a row refers to one that is gone, or is referred to', { cause })
  }
}

/** Creates the error for a change that others prevented. Nothing of it is done. */
export function busy(retry: Retry, cause?: unknown): ForgeError<'STORAGE_BUSY'> {
  return new ForgeError('STORAGE_BUSY', 'the database is busy: other changes are in the way', { retry }, { cause })
}

/** Creates the error for a call that got no connection of the pool, because all of them are in use. */
export function poolBusy(cause?: unknown): ForgeError<'STORAGE_BUSY'> {
  const message =
    'no connection became free in time: give the pool more connections, and let what is called inside a transaction join it'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'call' }, { cause })
}

/** Creates the error for a transaction in which an earlier statement has failed: only its end can run in it. */
export function alreadyFailed(retry: Retry, cause: unknown): ForgeError<'STORAGE_BUSY'> {
  const message = 'an earlier statement of the transaction has failed: roll the transaction back'
  return new ForgeError('STORAGE_BUSY', message, { retry }, { cause })
}

/** Creates the error for a server that cannot be reached or used. The message contains neither SQL nor addresses. */
export function unavailable(
  message: string,
  cause?: unknown,
  outcome: 'nothing-done' | 'unknown' = 'nothing-done',
): ForgeError<'STORAGE_UNAVAILABLE'> {
  return new ForgeError('STORAGE_UNAVAILABLE', message, { outcome }, { cause })
}
