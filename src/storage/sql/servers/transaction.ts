import { isForgeError } from '../../../schema/errors.ts'
import { unavailable } from '../errors.ts'
import { saysRefused } from './answers.ts'
import type { Call } from './call.ts'
import type { ServerConnection } from './server.ts'

/**
 * Runs work between BEGIN and COMMIT on a connection out of the pool. The work sends the BEGIN, or whatever is behind it.
 *
 * @throws the error of the work, after ROLLBACK; ForgeError `STORAGE_UNAVAILABLE` if the connection is lost, with the
 * outcome `unknown` if that was while committing; the error of the driver if the server refused the COMMIT; TypeError if a
 * failed statement went unnoticed
 */
export async function commitAfter<T>(
  call: Call,
  connection: ServerConnection<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const value = await work().catch(async (error: unknown) => {
    if (!call.isOver) {
      call.shorten()
      const isRolledBack = await succeeds(connection.rollBack())
      if (!isRolledBack && !isForgeError(error, 'STORAGE_UNAVAILABLE')) {
        throw unavailable('the connection was lost', error)
      }
    }
    throw error
  })
  if (!(await call.commit(() => commit(connection)))) throw new TypeError(ROLLED_BACK)
  return value
}

async function commit(connection: ServerConnection<unknown>): Promise<boolean> {
  try {
    return await connection.commit()
  } catch (error) {
    if (saysRefused(error)) throw error
    throw unavailable('the connection was lost while committing: the change may be committed', error, 'unknown')
  }
}

const ROLLED_BACK =
  'a statement of the transaction failed, and its error was caught or not waited for: nothing is committed'

/** Returns whether work has not failed. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}
