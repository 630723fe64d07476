import { ForgeError } from '../../../schema/errors.ts'

/** What to try again after a definite abort: the call, or the host's whole transaction. */
export type Retry = 'call' | 'host-transaction'

/** A foreign key of ours refused a row: what it refers to has just gone, or is referred to. The change is to be decided again. */
export class BrokenReference extends Error {
  override readonly name = 'BrokenReference'

  /** @param cause - the driver's error */
  constructor(cause: unknown) {
    super('a row refers to one that is gone, or is referred to', { cause })
  }
}

/** The error for a change that others kept from being made, with nothing of it done. */
export function busy(retry: Retry, cause?: unknown): ForgeError<'STORAGE_BUSY'> {
  return new ForgeError('STORAGE_BUSY', 'the database is busy: other changes are in the way', { retry }, { cause })
}

/** The error for a call that got none of the pool's connections, all of which are in use. */
export function poolBusy(cause?: unknown): ForgeError<'STORAGE_BUSY'> {
  const message =
    'no connection became free in time: give the pool more connections, and let what is called inside a transaction join it'
  return new ForgeError('STORAGE_BUSY', message, { retry: 'call' }, { cause })
}

/** The error for a transaction in which an earlier statement has failed: nothing can be run in it but its end. */
export function alreadyFailed(retry: Retry, cause: unknown): ForgeError<'STORAGE_BUSY'> {
  const message = 'an earlier statement of the transaction has failed: roll the transaction back'
  return new ForgeError('STORAGE_BUSY', message, { retry }, { cause })
}

/** The error for a server that cannot be reached or used. The message holds neither SQL nor addresses. */
export function unavailable(
  message: string,
  cause?: unknown,
  outcome: 'nothing-done' | 'unknown' = 'nothing-done',
): ForgeError<'STORAGE_UNAVAILABLE'> {
  return new ForgeError('STORAGE_UNAVAILABLE', message, { outcome }, { cause })
}
