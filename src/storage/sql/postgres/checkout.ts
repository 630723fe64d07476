import { isForgeError } from '../../../schema/errors.ts'
import { whenGiven } from '../server/when-given.ts'
import { translateConnectError } from './driver-errors.ts'
import { hearErrors } from './error-listeners.ts'
import type { PgPool, PgPoolClient } from './pg-pool.ts'

/**
 * Runs work on a client of a pool, and gives that back; one on which the server was lost is closed.
 *
 * @throws ForgeError `STORAGE_UNAVAILABLE` when there is none within five seconds
 */
export async function onClient<T>(pool: PgPool, work: (client: PgPoolClient) => Promise<T>): Promise<T> {
  let spoilt = false
  const give = async (use: (client: PgPoolClient) => Promise<T>): Promise<T> => {
    const client = await connect(pool)
    try {
      return await use(client)
    } finally {
      client.release(spoilt)
    }
  }
  return whenGiven(give, async (client) => {
    const stopHearing = hearErrors(client)
    try {
      return await work(client)
    } catch (error) {
      spoilt = isForgeError(error, 'STORAGE_UNAVAILABLE')
      throw error
    } finally {
      stopHearing()
    }
  })
}

/** Also what a pool throws at once, ended as it may be, is translated. */
async function connect(pool: PgPool): Promise<PgPoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw translateConnectError(error)
  }
}
