import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Tables } from '../tables.ts'

/** Takes the write lock of a host's transaction and changes nothing: the lock is taken before the condition finds no row. */
export function writeLock(prefix: string): Statement<unknown> {
  return command(`update "${prefix}${'ledger' satisfies keyof Tables}" set only = only where only < 0`)
}
