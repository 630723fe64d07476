import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'

/**
 * The settings for the time of one statement. They override what the host has set on its connection, which keeps its
 * own: the host may have switched foreign keys off for an import, or limited its lists.
 */
const SETTINGS =
  'foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, sql_big_selects = 1, ' +
  'sql_select_limit = 18446744073709551615'

const SET = 'set statement '

/**
 * The step of statement limits, in milliseconds. Each text is prepared once on a connection, so steps keep the number
 * of texts small.
 */
const STEP_MS = 500

/** Prefixes a statement in a host's transaction with our settings. The host's transaction has its own limits. */
export function withSettings({ sql }: Statement<unknown>): string {
  return sql.startsWith(SET) ? sql : `${SET}${SETTINGS} for ${sql}`
}

/**
 * Returns a function that prefixes our own statements with our settings. The statements wait for locks, and run, no
 * longer than the deadline allows. A statement that grows with the data is limited by the deadline alone.
 *
 * @param maxLockWait - how long to wait for one lock at most, in milliseconds
 */
export function withSettingsUntil(
  deadline: Deadline,
  maxLockWait: number = Number.POSITIVE_INFINITY,
): (statement: Statement<unknown>) => string {
  return ({ sql, mayTakeLong }) => {
    if (sql.startsWith(SET)) return sql // it has settings of its own

    const wait = Math.ceil(deadline.lockWait / STEP_MS) * STEP_MS
    const lockWait = Math.ceil(Math.min(wait, maxLockWait) / 1000) // the server counts whole seconds
    const limit = mayTakeLong === true ? Math.ceil(deadline.longWait / 1000) : wait / 1000
    const limits = `innodb_lock_wait_timeout = ${lockWait}, lock_wait_timeout = ${lockWait}, max_statement_time = ${limit}`
    return `${SET}${limits}, ${SETTINGS} for ${sql}`
  }
}
