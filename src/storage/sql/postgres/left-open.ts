import { isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Queryable } from '../session.ts'
import { saysInsideTransaction } from './driver-errors.ts'
import type { PgClient } from './pg-pool.ts'

/** Ends a transaction that the host left open on a client. */
export const ROLL_BACK: Statement<unknown> = command('rollback')

// A ROLLBACK outside a transaction would work, but the server logs a warning for each.
const PROBE = command('do $$ begin rollback; end $$')

/**
 * Returns whether a connection is inside a transaction. It costs a round trip, and returns false if the role may not
 * use PL/pgSQL.
 */
export async function isInsideTransaction(connection: Queryable): Promise<boolean> {
  try {
    await connection.all(PROBE)
    return false
  } catch (error) {
    if (saysInsideTransaction(error)) return true
    if (isForgeError(error, 'STORAGE_UNAVAILABLE')) throw error
    return false
  }
}

/** Returns what pg knows about a client without a query to the server; undefined in older versions of pg. */
export function knownStatus(client: PgClient): 'inside' | 'outside' | undefined {
  if (!('getTransactionStatus' in client) || typeof client.getTransactionStatus !== 'function') return undefined

  const status: unknown = client.getTransactionStatus()
  if (status === 'I') return 'outside'
  return status === 'T' || status === 'E' ? 'inside' : undefined
}
