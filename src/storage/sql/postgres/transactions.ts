import { isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import { unavailable } from '../server/failures.ts'
import type { ServerConnection } from '../server/server.ts'
import { translateCommitError, translateHostError } from './driver-errors.ts'
import type { PgClient } from './pg-pool.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { ServerLimits, setLimits } from './server-limits.ts'

/** Begins reads that all see the same, and change nothing. */
export const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'

/**
 * Begins changes. Everything is said, for a role or a database may have other defaults; a `synchronous_commit` that waits
 * for stand-by servers too is left as it is.
 */
export const BEGIN_WRITING: string =
  'begin isolation level read committed read write; ' +
  "select pg_catalog.set_config('synchronous_commit', 'on', true) " +
  "where pg_catalog.current_setting('synchronous_commit') in ('off', 'local')"

/** Runs work between BEGIN and COMMIT; work that throws is rolled back. No ROLLBACK is sent once the call is over. */
export async function inTransaction<T, C extends PgClient>(
  connection: PostgresConnection<C>,
  begin: string,
  work: (connection: ServerConnection<C>) => Promise<T>,
): Promise<T> {
  const { deadline, transaction } = connection
  const limits = new ServerLimits(connection, deadline)
  try {
    await connection.all(command(`${begin}; ${setLimits(limits.first())}`))
    const value = await work({ transaction, all: (statement) => limits.all(statement) })
    await commit(connection)
    return value
  } catch (error) {
    if (deadline.isOver || isForgeError(error, 'STORAGE_UNAVAILABLE')) throw error

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

async function commit({ deadline, transaction }: PostgresConnection<PgClient>): Promise<void> {
  try {
    deadline.startCommit()
    await transaction.query({ text: 'commit', values: [] })
  } catch (error) {
    throw translateCommitError(error)
  }
}
