import { isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import type { Queryable } from '../session.ts'

const SAVEPOINT = command('savepoint forgelet')
const RELEASE = command('release savepoint forgelet')
const ROLL_BACK = command('rollback to savepoint forgelet')

/** Runs work inside the open transaction, all or nothing: a failure leaves the rest of the transaction unchanged. */
export async function inSavepoint<T>(connection: Queryable, work: () => Promise<T>): Promise<T> {
  await connection.all(SAVEPOINT)
  try {
    const value = await work()
    await release(connection)
    return value
  } catch (error) {
    await takeBack(connection)
    throw error
  }
}

/**
 * Runs the host's code in the middle of a transaction, and checks that it left the transaction usable.
 *
 * @throws TypeError if it did not, with the database's answer as cause
 */
export async function guarded<T>(connection: Queryable, work: () => Promise<T>): Promise<T> {
  await connection.all(SAVEPOINT)
  const value = await work()
  await release(connection)
  return value
}

/**
 * The error of a lost connection is passed on. Any other error means that the transaction is no longer the one that was
 * given.
 */
async function release(connection: Queryable): Promise<void> {
  try {
    await connection.all(RELEASE)
  } catch (error) {
    if (isForgeError(error, 'STORAGE_UNAVAILABLE')) throw error
    const message = 'beforeCommit must leave its transaction as it was given: open, and with no failed statement in it'
    throw new TypeError(message, { cause: error })
  }
}

/** Rolls back to the savepoint, if that is still possible. */
export async function takeBack(connection: Queryable): Promise<void> {
  try {
    await connection.all(ROLL_BACK)
    await connection.all(RELEASE)
  } catch {
    // The transaction is gone, or has failed as a whole: it cannot commit any of this.
  }
}
