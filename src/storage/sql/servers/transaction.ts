import { isForgeError } from '../../../schema/errors.ts'
import { busy, unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from './deadline.ts'
import { isAbort, isRefusedCommit } from './errors.ts'
import type { Connection, Runner, ServerRules } from './server.ts'
import type { ServerSession } from './session.ts'

/** As in dialect.ts, without Kysely: `forgelet/storage` loads this file. */
function command(sql: string): Statement<unknown> {
  return { sql, parameters: [], returnsRows: false }
}

const ROLL_BACK = command('rollback')

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
      const failure = connection.status === 'I' ? undefined : await failureOf(connection.run(ROLL_BACK))
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
  session: ServerSession,
  work: () => Promise<T>,
): Promise<T> {
  const removeListener = deadline.onEnd(() => void failureOf(runner.run(ROLL_BACK_TO_SAVEPOINT)))
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

/** Returns the error of work that has failed, and undefined otherwise. */
export function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error ?? new Error('failed without an error'),
  )
}
