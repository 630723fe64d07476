import { afterAll, test } from 'vitest'
import { storageContract } from '../../../../src/testing/testing.ts'
import type { StorageKind } from '../../databases/storage-kind.ts'

/** Runs the whole contract on one kind of storage. */
export function contractSuite<Tx>({ open, host, end }: StorageKind<Tx>): void {
  afterAll(end)

  for (const each of storageContract(open, host)) test(each.name, each.run)
}
