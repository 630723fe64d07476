import { afterAll, beforeAll, describe, test } from 'vitest'
import { storageContract } from '../../src/testing/testing.ts'
import { pgliteKind } from './databases/pglite.ts'
import { postgresKind } from './databases/postgres.ts'
import { onServer, SERVERS } from './databases/servers.ts'
import type { StorageKind } from './databases/storage-kind.ts'

runContract(pgliteKind())
onServer(SERVERS.postgres, (url) => runContract(postgresKind(url)))

function runContract<Tx>({ name, open, host, end }: StorageKind<Tx>): void {
  describe(name, () => {
    beforeAll(async () => (await open()).close()) // what starts for the first time takes its time
    afterAll(end)
    for (const each of storageContract(open, host)) test(each.name, each.run)
  })
}
