/**
 * Makes of each statement one that waits for locks until so many milliseconds from now, at most; the server counts whole
 * seconds. Said with each statement: what the host has set for its connection stays as it is.
 */
export function boundedUntil(wait: number): (sql: string) => string {
  const deadline = performance.now() + wait
  return (sql) => {
    if (sql.startsWith(PREFIX)) return sql // it says so itself

    const seconds = Math.max(1, Math.ceil((deadline - performance.now()) / 1000))
    return `${PREFIX}innodb_lock_wait_timeout = ${seconds}, lock_wait_timeout = ${seconds} for ${sql}`
  }
}

const PREFIX = 'set statement '
