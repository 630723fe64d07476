import type { SqliteHandle } from './handle.ts'

/**
 * Runs statements that end work, on a handle on which the host left a statement open. better-sqlite3 refuses to run
 * anything there until the host ends that statement, which it may never do, and SQLite itself does not mind; other
 * drivers refuse nothing.
 *
 * @returns `impossible` when the handle cannot be told to; `failed` when the statements were run in vain
 */
export function execDespiteOpenStatements(handle: SqliteHandle, sql: string): 'done' | 'failed' | 'impossible' {
  if (!('unsafeMode' in handle) || typeof handle.unsafeMode !== 'function') return 'impossible'

  handle.unsafeMode(true)
  try {
    handle.exec(sql)
    return 'done'
  } catch {
    return 'failed'
  } finally {
    handle.unsafeMode(false)
  }
}
