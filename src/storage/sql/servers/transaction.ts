import { isForgeError } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { busy, unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from './deadline.ts'
import { isAbort, isRefusedCommit, translate } from './errors.ts'
import type { Connection, Runner, ServerRules } from './server.ts'

/** As in dialect.ts, without Kysely: `forgelet/storage` loads this file. */
function command(sql: string): Statement<unknown> {
  return { sql, parameters: [], returnsRows: false }
}

/**
 * Runs work between BEGIN and COMMIT on a connection out of the pool. The work sends the BEGIN, or whatever is behind it.
 *
 * @throws the error of the work, after ROLLBACK; ForgeError `STORAGE_UNAVAILABLE` if the connection is lost, with the
 * outcome `unknown` if that was while committing; the error of the driver if the server refused the COMMIT; TypeError if a
 * failed statement went unnoticed
 */
export async function commitAfter<T>(
  deadline: Deadline,
  connection: Connection,
  { commit }: Pick<ServerRules, 'commit'>,
  work: () => Promise<T>,
): Promise<T> {
  const value = await work().catch(async (error: unknown) => {
    if (!deadline.isOver) {
      deadline.shorten()
      const failure = connection.status === 'I' ? undefined : await failureOf(connection.run('rollback', []))
      // A node of a cluster that has rolled back by itself says so to the next statement, also to ROLLBACK.
      if (isAbort(failure)) throw busy('call', failure)
      if (failure !== undefined && !isForgeError(error, 'STORAGE_UNAVAILABLE')) {
        throw unavailable('the connection was lost', error)
      }
    }
    throw error
  })
  const isCommitted = await deadline.commit(() => commit(connection).catch(lostWhileCommitting))
  if (!isCommitted) throw new TypeError(ROLLED_BACK)
  return value
}

function lostWhileCommitting(error: unknown): never {
  if (isRefusedCommit(error)) throw error
  throw unavailable('the connection was lost while committing: the change may be committed', error, 'unknown')
}

const ROLLED_BACK =
  'a statement of the transaction failed, and its error was caught or not waited for: nothing is committed'

const SAVEPOINT = command('savepoint forgelet')
const RELEASE = command('release savepoint forgelet')
const ROLL_BACK_TO_SAVEPOINT = command('rollback to savepoint forgelet')

/** Shows that a transaction is open: outside of one, MariaDB says so only when a savepoint is used. */
export const CHECK_OPEN: readonly Statement<unknown>[] = [
  command('savepoint forgelet_check'),
  command('release savepoint forgelet_check'),
]

/**
 * Runs work in the host's transaction, all or nothing. What an ended call has done is rolled back at once, and so before a
 * COMMIT that the host sends next.
 */
export async function inSavepoint<T>(
  deadline: Deadline,
  runner: Runner,
  session: { batch(statements: readonly Statement<unknown>[]): Promise<unknown> },
  work: () => Promise<T>,
): Promise<T> {
  const removeListener = deadline.onEnd(() => void failureOf(runner.run(ROLL_BACK_TO_SAVEPOINT.sql, [])))
  try {
    await session.batch([SAVEPOINT, ROLL_BACK_TO_SAVEPOINT])
    const value = await work()
    await session.batch([RELEASE])
    return value
  } catch (error) {
    const failure = await failureOf(session.batch([ROLL_BACK_TO_SAVEPOINT, RELEASE]))
    // A cluster may have rolled the whole transaction back, and says so only now.
    throw isForgeError(failure, 'STORAGE_BUSY') ? failure : error
  } finally {
    removeListener()
  }
}

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
  await send(command(`savepoint ${savepoint}`))
  const value = await hostCode()
  try {
    await send(command(`release savepoint ${savepoint}`))
  } catch (error) {
    // The node of a cluster may have aborted the transaction by itself, whatever the host's code did.
    const isAborted = isAbort(isForgeError(error) ? error.cause : error)
    const cause = translate(error, 'call')
    if (isAborted || isForgeError(cause, 'STORAGE_UNAVAILABLE')) throw error
    throw new TypeError(message, { cause })
  }
  return value
}

/** Returns the error of work that has failed, and undefined otherwise. */
export function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error ?? new Error('failed without an error'),
  )
}
