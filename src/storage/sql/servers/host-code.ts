import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { Statement } from '../query.ts'
import { isAbort, translate } from './errors.ts'

/** The savepoint around the host's code. Each use has a name of its own: a second savepoint of a name replaces the first on MariaDB. */
interface Surroundings {
  readonly savepoint: string
  /** What to throw if the code has not left the transaction open and sound. */
  readonly message: string
}

const WHOLE_TRANSACTION: Surroundings = {
  savepoint: 'forgelet_begun',
  message:
    'a statement of the transaction failed, and its error was caught or not waited for, or it ended the transaction: ' +
    'not all is committed',
}

/**
 * Runs the host's code in an open transaction, between a savepoint and its release. That shows whether the transaction is still open and
 * sound: a server may answer the COMMIT of one that it has rolled back without an error.
 *
 * @throws any error of the code; that of the server if it has aborted the transaction only now; TypeError if the code has ended
 * the transaction, or has caught the error that did
 */
export async function checkedAfter<T>(
  send: (statement: Statement<unknown>) => MaybePromise<unknown>,
  hostCode: () => MaybePromise<T>,
  { savepoint, message }: Surroundings = WHOLE_TRANSACTION,
): Promise<T> {
  await send({ sql: `savepoint ${savepoint}`, parameters: [], returnsRows: false })
  const value = await hostCode()
  try {
    await send({ sql: `release savepoint ${savepoint}`, parameters: [], returnsRows: false })
  } catch (error) {
    // The node of a cluster may have aborted the transaction by itself, whatever the host's code did.
    const isAborted = isAbort(isForgeError(error) ? error.cause : error)
    const cause = translate(error, 'call')
    if (isAborted || isForgeError(cause, 'STORAGE_UNAVAILABLE')) throw error
    throw new TypeError(message, { cause })
  }
  return value
}
