// The SQLite drivers whose handles a storage takes, opened in one way. A driver is loaded only where it is asked for.
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Of each driver: its constructor, and its options for a handle that may not write, or reads whole numbers as bigint. */
const DRIVERS = {
  'better-sqlite3': {
    // The one that the package in this folder would load for a file name.
    load: async (dist) => createRequire(join(dist, 'index.js'))('better-sqlite3'),
    readOnly: { readonly: true },
    bigints: {},
    setUp: (handle, { bigints }) => handle.defaultSafeIntegers(bigints),
  },
  'node:sqlite': {
    load: async () => (await import('node:sqlite')).DatabaseSync,
    readOnly: { readOnly: true },
    bigints: { readBigInts: true },
  },
  'bun:sqlite': {
    load: async () => (await import('bun:sqlite')).Database,
    readOnly: { readonly: true },
    bigints: { create: true, safeIntegers: true },
  },
}

/**
 * Loads a driver.
 *
 * @param name - as it is imported
 * @param dist - the folder of the built package
 */
export async function loadDriver(name, dist) {
  const { load, readOnly, bigints, setUp } = DRIVERS[name]
  const Database = await load(dist)

  /** Opens a handle that never waits for a lock. */
  function open(file, wanted = {}) {
    const options = wanted.readOnly ? readOnly : wanted.bigints ? bigints : undefined
    const handle = options === undefined ? new Database(file) : new Database(file, options)
    setUp?.(handle, { bigints: wanted.bigints === true })
    handle.exec('pragma busy_timeout = 0')
    return handle
  }
  return { name, Database, open }
}

/** Runs work in a transaction that has the write lock, as hosts of the driver do: by its own means where it has them. */
export function inTransaction(handle, work) {
  if (typeof handle.transaction === 'function') return handle.transaction(work).immediate()

  handle.exec('begin immediate')
  try {
    const value = work()
    handle.exec('commit')
    return value
  } catch (error) {
    handle.exec('rollback')
    throw error
  }
}
