import { BrokenReference, unavailable } from '../errors.ts'
import type { ServerConnection, ServerRules } from './server.ts'

/**
 * Commits, and returns whether the server has; it may have rolled back instead.
 *
 * @throws ForgeError `STORAGE_UNAVAILABLE` with the outcome `unknown` if the server has not answered; why it has refused,
 * which is the error of the driver for a deferred constraint of the host
 */
export async function commit(connection: ServerConnection<unknown>, rules: ServerRules): Promise<boolean> {
  try {
    return await connection.commit()
  } catch (error) {
    if (!rules.saysRefused(error)) {
      throw unavailable('the connection was lost while committing: the change may be committed', error, 'unknown')
    }
    const translated = rules.translate(error, 'call')
    throw translated instanceof BrokenReference ? error : translated
  }
}

/** Returns whether work has not failed. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}
