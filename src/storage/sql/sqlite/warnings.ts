import { Connection } from './connection.ts'
import type { SqliteHandle } from './handle.ts'

/** What of the host's handle endangers what is committed on it: we do not change the settings of a handle that is not ours. */
export function warningsAbout(handle: SqliteHandle): readonly string[] {
  const synchronous = setting(handle, 'synchronous')
  if (synchronous === undefined || synchronous >= 2) return []

  return [
    `the host's handle has synchronous = ${synchronous}: what joinSync wrote may be lost when the power fails; ` +
      'set pragma synchronous = full',
  ]
}

function setting(handle: SqliteHandle, name: string): number | undefined {
  const [row] = new Connection(handle, 'call', 'host').all({ sql: `pragma ${name}`, parameters: [], returnsRows: true })
  if (typeof row !== 'object' || row === null) return undefined

  const [value]: readonly unknown[] = Object.values(row)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}
