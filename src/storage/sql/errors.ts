import { ForgeError } from '../../schema/errors.ts'

/** What the caller must run again after a definite abort: the call, or the host's whole transaction. */
export type Retry = 'call' | 'host-transaction'

/** Creates the error for a change that others prevented. Nothing of it is done. */
export function busy(retry: Retry, cause?: unknown): ForgeError<'STORAGE_BUSY'> {
  return new ForgeError('STORAGE_BUSY', 'the database is busy with other changes', { retry }, { cause })
}

/** Creates the error for a database that cannot be reached or used. The message contains no SQL, address or path. */
export function unavailable(
  message: string,
  cause?: unknown,
  outcome: 'nothing-done' | 'unknown' = 'nothing-done',
): ForgeError<'STORAGE_UNAVAILABLE'> {
  return new ForgeError('STORAGE_UNAVAILABLE', message, { outcome }, { cause })
}

/**
 * Thrown when one of our foreign keys refused a row: the row it refers to has just been removed, or is itself referred
 * to. The change must be decided again.
 */
export class BrokenReference extends Error {
  override readonly name = 'BrokenReference'

  /** @param cause - the driver's error */
  constructor(cause: unknown) {
    super('a row refers to a missing row, or is still referred to', { cause })
  }
}
