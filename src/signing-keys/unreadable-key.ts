import { ForgeError } from '../schema/errors.ts'

/**
 * The error for a signing key that cannot be read or parsed.
 *
 * @param reason - what is wrong and the mend, in our own fixed words: never a path, never a piece of the key
 * @param cause - what failed underneath; for the log, it does not reach the wire
 */
export function unreadableKey(reason: string, cause?: unknown): ForgeError<'SIGNING_KEY_UNREADABLE'> {
  const options = cause === undefined ? undefined : { cause }
  return new ForgeError('SIGNING_KEY_UNREADABLE', `the signing key cannot be read: ${reason}`, undefined, options)
}
