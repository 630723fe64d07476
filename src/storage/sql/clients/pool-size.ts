/** The number of connections that a pool opens at most if its URL does not say another. */
const DEFAULT_SIZE = 10
const MAX_SIZE = 1000

/**
 * Returns how many connections the pool of a URL may open.
 *
 * @param parameter - the parameter of the URL that limits them, as the driver names it
 * @throws TypeError for a value that is not an integer from 1 to 1000: a driver would ignore it, or wait indefinitely
 */
export function poolSize(url: string, parameter: 'max' | 'connectionLimit'): number {
  const text = new RegExp(`[?&]${parameter}=([^&#]*)`).exec(url)?.[1]
  if (text === undefined) return DEFAULT_SIZE
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= MAX_SIZE) return size
  throw new TypeError(`${parameter} in the URL of the database must be an integer from 1 to ${MAX_SIZE}`)
}
