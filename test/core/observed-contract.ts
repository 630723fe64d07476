import { afterAll, describe, test } from 'vitest'
import { instrumentStorage } from '../../src/core/instrument-storage.ts'
import { storageContract } from '../../src/testing/testing.ts'
import type { StorageKind } from '../storage/databases/storage-kind.ts'
import { withFault } from '../storage/planted/storage-fault.ts'

/** An observed storage does all that the contract asks of a storage. */
export function observedContract<Tx>(kind: StorageKind<Tx>): void {
  const { name, open, host, end } = withFault(kind, (storage) => instrumentStorage(storage, () => undefined))
  describe(`${name}, observed,`, () => {
    afterAll(end)
    for (const each of storageContract(open, host)) test(each.name, each.run)
  })
}
