/**
 * What is promised to be reported at once has been reported by then, in milliseconds, also on a busy machine. A test that
 * waits out the patience of a call takes longer.
 */
export const AT_ONCE = 4000

/**
 * What waits for five seconds and no longer has ended by then, in milliseconds, also on a busy machine. A test that
 * sets no limit waits far longer: a driver, a pool and a server for their own defaults, from 50 seconds to for ever.
 */
export const FIVE_SECONDS_AND_ROOM = 10_000
