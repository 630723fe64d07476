import { isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import { unavailable } from '../server/failures.ts'
import { translateCommitError, translateHostError } from './driver-errors.ts'
import type { PgClient } from './pg-pool.ts'
import type { PostgresConnection } from './postgres-connection.ts'

/** Begins reads that all see the same, and change nothing. */
export const BEGIN_SNAPSHOT: Statement<unknown> = command('begin isolation level repeatable read read only')

/**
 * Begins changes. Everything is said, for a role or a database may have other defaults; a `synchronous_commit` that waits
 * for stand-by servers too is left as it is.
 *
 * @param lockWait - how long one lock is waited for, in milliseconds
 */
export function beginWriting(lockWait: number): Statement<unknown> {
  return command(
    `begin isolation level read committed read write; set local lock_timeout = ${Math.ceil(lockWait)}; ` +
      "select pg_catalog.set_config('synchronous_commit', 'on', true) " +
      "where pg_catalog.current_setting('synchronous_commit') in ('off', 'local')",
  )
}

/** Runs work between BEGIN and COMMIT; work that throws is rolled back. */
export async function inTransaction<T, C extends PgClient>(
  connection: PostgresConnection<C>,
  begin: Statement<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    await connection.all(begin)
    const value = await work()
    await commit(connection.transaction)
    return value
  } catch (error) {
    if (isForgeError(error, 'STORAGE_UNAVAILABLE')) throw error

    await rollBack(connection, error)
    throw translateHostError(error)
  }
}

const ROLL_BACK = command('rollback')

async function rollBack(connection: PostgresConnection<PgClient>, error: unknown): Promise<void> {
  try {
    await connection.all(ROLL_BACK)
  } catch {
    throw unavailable('the connection to the PostgreSQL server was lost', error)
  }
}

async function commit(client: PgClient): Promise<void> {
  try {
    await client.query({ text: 'commit', values: [] })
  } catch (error) {
    throw translateCommitError(error)
  }
}
