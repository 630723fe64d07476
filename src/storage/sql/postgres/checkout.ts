import { isForgeError } from '../../../schema/errors.ts'
import type { Deadline } from '../server/call-deadline.ts'
import { poolBusy, unavailable } from '../server/failures.ts'
import { translateConnectError } from './driver-errors.ts'
import type { PgPool, PgPoolClient } from './pg-pool.ts'
import type { PoolSource } from './pool-source.ts'

/**
 * Runs work on a client of a pool, and releases the client. If the server was lost or the call was interrupted, the
 * client is closed: its socket is destroyed if a query is still unanswered.
 *
 * @throws ForgeError `STORAGE_BUSY` if the pool has no free client within the deadline; `STORAGE_UNAVAILABLE` if the
 * server accepts no connection
 */
export async function onClient<T>(
  source: PoolSource,
  deadline: Deadline,
  work: (client: PgPoolClient) => Promise<T>,
): Promise<T> {
  const client = await connected(source.pool, deadline)
  const stopListening = source.errorListeners.listen(client)
  let isReleased = false
  const release = (destroy: boolean): void => {
    if (!isReleased) client.release(destroy)
    isReleased = true
  }
  const stop = deadline.onInterrupt(() => release(true))
  let spoilt = false
  try {
    return await work(client)
  } catch (error) {
    spoilt = isForgeError(error, 'STORAGE_UNAVAILABLE')
    throw error
  } finally {
    stop()
    stopListening()
    release(spoilt)
  }
}

/** A client that arrives after the deadline is released unused. */
async function connected(pool: PgPool, deadline: Deadline): Promise<PgPoolClient> {
  deadline.expireWith(() => (hasWaiters(pool) ? poolBusy() : unavailable(NO_CONNECTION)))
  const client = await deadline.ask(() => connect(pool))
  deadline.expireWith(() => unavailable(NO_ANSWER))
  if (!deadline.isOver) return client

  client.release()
  throw poolBusy()
}

const NO_CONNECTION = 'the PostgreSQL server accepted no connection within five seconds'
const NO_ANSWER = 'the PostgreSQL server did not answer within five seconds'

/** Returns whether calls wait in a pool because all of its clients are in use. */
function hasWaiters(pool: PgPool): boolean {
  return 'waitingCount' in pool && typeof pool.waitingCount === 'number' && pool.waitingCount > 0
}

/** Also translates what a pool throws synchronously, for example because it has ended. */
async function connect(pool: PgPool): Promise<PgPoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw translateConnectError(error)
  }
}
