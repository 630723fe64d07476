/**
 * What is set for the time of one statement, so that nothing the host has set for his connection, and keeps, spoils it: he
 * may have switched foreign keys off for an import, or cut his lists.
 */
const SETTINGS =
  'foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, sql_big_selects = 1, ' +
  'sql_select_limit = 18446744073709551615'

const SET = 'set statement '

/** Puts our settings before a statement. */
export function withSettings(sql: string): string {
  return setFor(SETTINGS, sql)
}

/**
 * Puts our settings before statements, which wait for locks until so many milliseconds from now at most; the server counts
 * whole seconds.
 */
export function withSettingsUntil(wait: number): (sql: string) => string {
  const deadline = performance.now() + wait
  return (sql) => {
    const seconds = Math.max(1, Math.ceil((deadline - performance.now()) / 1000))
    return setFor(`innodb_lock_wait_timeout = ${seconds}, lock_wait_timeout = ${seconds}, ${SETTINGS}`, sql)
  }
}

/** A statement that has settings of its own keeps to those. */
function setFor(settings: string, sql: string): string {
  return sql.startsWith(SET) ? sql : `${SET}${settings} for ${sql}`
}
