import { afterAll, beforeAll, test } from 'vitest'
import { storageContract } from '../../src/testing/testing.ts'
import type { StorageKind } from './storage-kind.ts'

/**
 * The names of cases that together use every store, without races and variants: a short form of the contract for databases
 * that are slow to test.
 */
export const SHORT_FORM: RegExp =
  /returns the result|transaction is (visible once|undone)|right slice|lists and counts|is reported|exactly|returned unchanged|3 at a time|stored completely|keeps|of two|before a time|works for|oldest first|begins at/

/** Those of them with which the quick tests run each store on a database in this process: one of each kind of call. */
export const QUICK_FORM: RegExp =
  /returns the result|transaction is (visible once|undone)|of two|lists and counts|returned unchanged|oldest first|begins at/

/** Runs the contract on one kind of storage: every case, or those whose names are selected. */
export function contractSuite<Tx>(
  { open, host, end }: StorageKind<Tx>,
  isSelected: (name: string) => boolean = () => true,
): void {
  beforeAll(async () => (await open()).close()) // a database may need longer to start than a case may take
  afterAll(end)

  for (const { name, run } of storageContract(open, host)) if (isSelected(name)) test(name, run)
}
