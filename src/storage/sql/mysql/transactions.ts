import { unavailable } from '../server/failures.ts'
import type { Lent } from './checkout.ts'
import { saysAborted, saysLost, translateError } from './driver-errors.ts'
import { COMMIT } from './mysql-connection.ts'
import type { MysqlConnection } from './mysql-pool.ts'

export const ROLL_BACK = 'rollback and no chain no release'

/**
 * Begins changes, in one round trip; the level is that of this transaction alone. What somebody left open on the connection
 * is rolled back: to begin another would commit it.
 */
export const BEGIN: string = `begin not atomic ${ROLL_BACK}; set transaction isolation level read committed; start transaction read write; end`

/** Begins reads that all see the same, and change nothing. */
export const BEGIN_SNAPSHOT: string =
  `begin not atomic ${ROLL_BACK}; set transaction isolation level repeatable read; ` +
  'start transaction with consistent snapshot, read only; end'

/** Runs work between BEGIN and COMMIT; work that throws is rolled back. */
export async function inTransaction<T, C extends MysqlConnection>(
  lent: Lent<C>,
  begin: string,
  work: () => Promise<T>,
): Promise<T> {
  const { connection } = lent
  try {
    await connection.query(begin)
    const value = await work()
    await commit(connection)
    return value
  } catch (error) {
    await rollBack(lent)
    throw translateHostError(error)
  }
}

/** Rolls back whatever is open; a connection on which that fails is not used again. */
export async function rollBack<C extends MysqlConnection>({ connection, spoil }: Lent<C>): Promise<void> {
  await connection.query(ROLL_BACK).catch(spoil)
}

/** What a transaction that failed in COMMIT has come to is known only where the server says that it was aborted. */
async function commit(connection: MysqlConnection): Promise<void> {
  try {
    await connection.query(COMMIT)
  } catch (error) {
    if (saysAborted(error)) throw error
    throw unavailable('the server was lost while committing: the change may be done', error, 'unknown')
  }
}

/** What the host's own code threw in our transaction: its definite aborts and lost connections are those of the whole. */
function translateHostError(error: unknown): unknown {
  return saysAborted(error) || saysLost(error) ? translateError(error, 'call') : error
}
