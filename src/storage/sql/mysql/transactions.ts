import type { Deadline } from '../server/call-deadline.ts'
import { unavailable } from '../server/failures.ts'
import type { Lent } from './checkout.ts'
import { factsBefore } from './connection-facts.ts'
import { saysAborted, saysLost, translateError } from './driver-errors.ts'
import { COMMIT } from './mysql-connection.ts'
import type { MysqlConnection } from './mysql-pool.ts'

export const ROLL_BACK = 'rollback and no chain no release'

/**
 * Begins changes, together with the facts in one round trip. The level applies to this transaction alone. A transaction
 * that the host left open on the connection is rolled back, because beginning another would commit it.
 */
export const BEGIN: string = `${ROLL_BACK}; set transaction isolation level read committed; start transaction read write`

/** Begins reads on one snapshot. They cannot change anything. */
export const BEGIN_SNAPSHOT: string =
  `${ROLL_BACK}; set transaction isolation level repeatable read; ` +
  'start transaction with consistent snapshot, read only'

/**
 * Runs work between BEGIN and COMMIT. Work that throws is rolled back. Errors of the host's own code are rethrown
 * unchanged, except for a definite abort and for a connection that was lost during the work.
 */
export async function inTransaction<T, C extends MysqlConnection>(
  lent: Lent<C>,
  begin: string,
  work: () => Promise<T>,
): Promise<T> {
  const { connection, deadline } = lent
  lent.forget()
  try {
    await start(lent, begin)
    const value = await work()
    await commit(connection, deadline)
    return value
  } catch (error) {
    if (deadline.isOver) throw error
    const isLost = !(await rollBack(lent))
    throw saysAborted(error) || (isLost && saysLost(error)) ? translateError(error, 'call') : error
  }
}

async function start<C extends MysqlConnection>(
  { connection, check, deadline }: Lent<C>,
  begin: string,
): Promise<void> {
  check(await translated(() => deadline.ask(() => factsBefore(connection, begin))))
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw translateError(error, 'call')
  }
}

/** Rolls back any open transaction. Returns false if that fails; the connection is then not used again. */
export async function rollBack<C extends MysqlConnection>({ connection, deadline, spoil }: Lent<C>): Promise<boolean> {
  try {
    await deadline.ask(() => connection.query(ROLL_BACK))
    return true
  } catch {
    spoil()
    return false
  }
}

/** The outcome of a transaction whose COMMIT failed is known only if the server reports that it was aborted. */
async function commit(connection: MysqlConnection, deadline: Deadline): Promise<void> {
  try {
    deadline.startCommit()
    await deadline.ask(() => connection.query(COMMIT))
  } catch (error) {
    if (saysAborted(error)) throw error
    throw unavailable('the server was lost while committing: the change may be done', error, 'unknown')
  }
}
