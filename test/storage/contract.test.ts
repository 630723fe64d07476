import { afterAll, describe, test } from 'vitest'
import { storageContract } from '../../src/testing/testing.ts'
import { memoryKind } from './databases/memory.ts'
import { sqliteFileKind, sqliteMemoryKind } from './databases/sqlite.ts'
import type { StorageKind } from './databases/storage-kind.ts'

runContract(memoryKind())
runContract(sqliteFileKind())
runContract(sqliteMemoryKind())

function runContract<Tx>({ name, open, host, end }: StorageKind<Tx>): void {
  describe(name, () => {
    afterAll(end)
    for (const each of storageContract(open, host)) test(each.name, each.run)
  })
}
