import type { ForgeStorage } from '../../src/storage/storage.ts'

import type { Outcome } from '../../src/testing/testing.ts'
import { outcomeOf } from '../../src/testing/testing.ts'

/** What the first call answers once the host has ended what the storage stands on. */
export const CLOSED = { thrown: { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done', closed: true } } }

/** Makes a first call on a storage. */
export function firstClaim<Tx>({ events }: ForgeStorage<Tx>): Promise<Outcome> {
  return outcomeOf(() => events.claim({ name: 'mail', holder: 'one' }, 1000))
}
