import { expectTypeOf, test } from 'vitest'
import type { BegunTransaction, ContractCase } from '../../app/testing/testing.ts'
import { storageContract } from '../../app/testing/testing.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { SqliteHandle } from '../../src/storage/sqlite.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'

declare const begun: BegunTransaction<SqliteHandle>

test('the contract takes a storage of any kind, with its own transactions', () => {
  expectTypeOf(storageContract(async () => memoryStorage())).toEqualTypeOf<readonly ContractCase[]>()
  storageContract(async () => sqliteStorage(':memory:'), { begin: () => begun })
})

test('the contract takes no transactions of another kind', () => {
  // @ts-expect-error an SQLite handle is no transaction of a storage in memory
  storageContract(async () => memoryStorage(), { begin: () => begun })
  // @ts-expect-error a storage, not the promise of one
  storageContract(() => memoryStorage())
})
