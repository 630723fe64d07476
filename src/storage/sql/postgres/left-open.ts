import { isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Queryable } from '../session.ts'
import { saysInsideTransaction } from './driver-errors.ts'
import type { PgClient } from './pg-pool.ts'

/** Ends what the host left open on a client. */
export const ROLL_BACK: Statement<unknown> = command('rollback')

// A ROLLBACK outside a transaction would do, but the server logs a warning for each.
const PROBE = command('do $$ begin rollback; end $$')

/** Whether a connection is inside a transaction. Costs a round trip; false where the role may not use PL/pgSQL. */
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

/** What pg knows about a client without asking the server; undefined in its older versions. */
export function knownStatus(client: PgClient): 'inside' | 'outside' | undefined {
  if (!('getTransactionStatus' in client) || typeof client.getTransactionStatus !== 'function') return undefined

  const status: unknown = client.getTransactionStatus()
  if (status === 'I') return 'outside'
  return status === 'T' || status === 'E' ? 'inside' : undefined
}
