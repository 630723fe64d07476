import { isForgeError } from '../../../schema/errors.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { SqlDialect } from '../dialect.ts'
import { busy } from '../errors.ts'
import type { Session } from '../session.ts'
import { query, queryFirst } from '../session.ts'

type Lease = NonNullable<SqlDialect['migration']>['lease']

/** How long a migration waits for one on another node, and how long between two attempts, in milliseconds. */
const MAX_LEASE_WAIT_MS = 10_000
const LEASE_PAUSE_MS = 200

/**
 * Takes the lease of migrations, where the server is a node of a cluster. Waits for a process on another node that has it.
 *
 * @returns the lease, to be given back; undefined if none is needed
 * @throws ForgeError `STORAGE_BUSY` after ten seconds
 */
export function* takeLease(session: Session, lease: Lease): SyncOrAsync<Lease> {
  if (lease === undefined || (yield* query(session, lease.needed)).length === 0) return undefined

  for (const end = performance.now() + MAX_LEASE_WAIT_MS; ; ) {
    try {
      let answer: { readonly lock: string } | undefined
      for (const statement of lease.take) answer = yield* queryFirst(session, statement)
      if (answer?.lock === 'taken') return lease
    } catch (error) {
      if (!isForgeError(error, 'STORAGE_BUSY')) throw error // another node was first
    }
    if (performance.now() > end) throw busy('call')
    yield* wait(new Promise<void>((goOn) => setTimeout(goOn, LEASE_PAUSE_MS)))
  }
}
