import { unavailable } from './failures.ts'

/** How long a connection may take to be made, or to become free, in milliseconds: a pool of the host's may wait for ever. */
export const CONNECTION_PATIENCE = 5000

/**
 * Runs work on a connection that comes by and by; one that comes when nobody waits for it any more goes back unused.
 *
 * @param give - waits for a connection, calls what it is given with it, and gives it back after that
 * @throws ForgeError `STORAGE_UNAVAILABLE` when none comes within five seconds
 */
export async function whenGiven<C, T>(
  give: (use: (connection: C) => Promise<T>) => Promise<T>,
  work: (connection: C) => Promise<T>,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isLate = false
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isLate = true
      reject(noneCame())
    }, CONNECTION_PATIENCE)
  })
  const use = async (connection: C): Promise<T> => {
    if (isLate) throw noneCame()
    clearTimeout(timer)
    return work(connection)
  }
  try {
    return await Promise.race([give(use), late])
  } finally {
    clearTimeout(timer)
  }
}

function noneCame(): Error {
  return unavailable(
    'no connection was made or became free within five seconds: what is called inside a transaction must join it',
  )
}
