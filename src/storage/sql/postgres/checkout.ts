import { isForgeError } from '../../../schema/errors.ts'
import { translateConnectError } from './driver-errors.ts'
import { hearErrors } from './error-listeners.ts'
import type { PgPool, PgPoolClient } from './pg-pool.ts'

/** How long a connection may take to be made, or to become free, in milliseconds. */
export const CONNECT_PATIENCE = 5000

/**
 * Runs work on a client of a pool, and gives that back; one on which the server was lost is closed.
 *
 * @throws ForgeError `STORAGE_UNAVAILABLE` when there is none within five seconds
 */
export async function onClient<T>(pool: PgPool, work: (client: PgPoolClient) => Promise<T>): Promise<T> {
  const client = await connect(pool)
  const stopHearing = hearErrors(client)
  let spoilt = false
  try {
    return await work(client)
  } catch (error) {
    spoilt = isForgeError(error, 'STORAGE_UNAVAILABLE')
    throw error
  } finally {
    stopHearing()
    client.release(spoilt)
  }
}

/** The host's pool may wait for ever. */
async function connect(pool: PgPool): Promise<PgPoolClient> {
  const connecting = connectNow(pool)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const message = `no connection was made or became free within ${CONNECT_PATIENCE} milliseconds`
    timer = setTimeout(() => reject(new Error(message)), CONNECT_PATIENCE)
  })
  try {
    return await Promise.race([connecting, late])
  } catch (error) {
    connecting.then((client) => client.release()).catch(() => undefined)
    throw translateConnectError(error)
  } finally {
    clearTimeout(timer)
  }
}

/** Also what a pool throws at once, ended as it may be, is a rejection. */
async function connectNow(pool: PgPool): Promise<PgPoolClient> {
  return pool.connect()
}
