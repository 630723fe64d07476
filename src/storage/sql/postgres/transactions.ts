import { isForgeError } from '../../../schema/errors.ts'
import type { Deadline } from '../server/call-deadline.ts'
import { unavailable } from '../server/failures.ts'
import type { ServerConnection } from '../server/server.ts'
import { saysInsideTransaction, translateCommitError, translateError, translateHostError } from './driver-errors.ts'
import { ROLL_BACK } from './left-open.ts'
import type { PgClient } from './pg-pool.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { TYPES } from './postgres-connection.ts'
import { ServerLimits, setLimits } from './server-limits.ts'

/** Begins reads on one snapshot. They cannot change anything. */
export const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'

/**
 * Begins changes. All modes are explicit, because a role or a database may have other defaults. A `synchronous_commit`
 * that also waits for standby servers is left unchanged.
 */
export const BEGIN_WRITING: string =
  'begin isolation level read committed read write; ' +
  "select pg_catalog.set_config('synchronous_commit', 'on', true) " +
  "where pg_catalog.current_setting('synchronous_commit') in ('off', 'local')"

/**
 * Checks that the transaction begins with this message: a BEGIN inside another transaction only causes a warning, and
 * the COMMIT that follows would commit what the host left open there.
 */
const IS_NEW =
  'select cast(pg_catalog.now() operator(pg_catalog.=) pg_catalog.statement_timestamp() as text) as "isNew"'

/** How a transaction begins. */
export interface Beginning {
  readonly begin: string
  /** Called if the host left a transaction open, which is rolled back. */
  readonly leftOpen: () => void
}

/** Runs work between BEGIN and COMMIT. Work that throws is rolled back. No ROLLBACK is sent once the call is over. */
export async function inTransaction<T, C extends PgClient>(
  connection: PostgresConnection<C>,
  { begin, leftOpen }: Beginning,
  work: (connection: ServerConnection<C>) => Promise<T>,
): Promise<T> {
  const { deadline, transaction } = connection
  const limits = new ServerLimits(connection, deadline)
  try {
    if (!(await begins(connection, `${begin}; ${setLimits(limits.first())}; ${IS_NEW}`))) {
      leftOpen()
      await connection.all(ROLL_BACK)
      await begins(connection, `${begin}; ${setLimits(limits.first())}; ${IS_NEW}`)
    }
    const value = await work({ transaction, all: (statement) => limits.all(statement) })
    await commit(connection)
    return value
  } catch (error) {
    if (deadline.isOver || isForgeError(error, 'STORAGE_UNAVAILABLE')) throw error

    await rollBack(connection, error)
    throw translateHostError(error)
  }
}

/** Begins a transaction. Returns false if the client was inside another. */
async function begins({ deadline, transaction }: PostgresConnection<PgClient>, text: string): Promise<boolean> {
  try {
    return isNew(await deadline.ask(() => transaction.query({ text, values: [], types: TYPES })))
  } catch (error) {
    if (saysInsideTransaction(error)) return false
    throw translateError(error, 'call')
  }
}

/** pg answers several statements with a list, other drivers with the last answer. */
function isNew(answer: unknown): boolean {
  const last: unknown = Array.isArray(answer) ? answer.at(-1) : answer
  if (typeof last !== 'object' || last === null || !('rows' in last) || !Array.isArray(last.rows)) return true
  return last.rows[0]?.isNew !== 'false'
}

async function rollBack(connection: PostgresConnection<PgClient>, error: unknown): Promise<void> {
  try {
    await connection.all(ROLL_BACK)
  } catch {
    throw unavailable('the connection to the PostgreSQL server was lost', error)
  }
}

/**
 * Refuses a COMMIT that PostgreSQL answered with ROLLBACK and without an error. That happens if a statement failed that
 * `beforeCommit` did not wait for.
 */
function refuseRolledBack(answer: unknown): void {
  if (typeof answer !== 'object' || answer === null || !('command' in answer) || answer.command !== 'ROLLBACK') return
  throw new TypeError('beforeCommit must wait for its statements: one of them failed after it had returned')
}

async function commit({ deadline, transaction }: PostgresConnection<PgClient>): Promise<void> {
  refuseRolledBack(await answerToCommit(deadline, transaction))
}

async function answerToCommit(deadline: Deadline, client: PgClient): Promise<unknown> {
  try {
    deadline.startCommit()
    return await deadline.ask(() => client.query({ text: 'commit', values: [] }))
  } catch (error) {
    throw translateCommitError(error)
  }
}
