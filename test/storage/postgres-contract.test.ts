import { afterAll, describe, test } from 'vitest'
import { storageContract } from '../../src/testing/testing.ts'
import { postgresKind } from './databases/postgres.ts'
import { onServer, SERVERS } from './databases/servers.ts'

onServer(SERVERS.postgres, (url) => {
  const { open, host, end } = postgresKind(url)
  afterAll(end)

  describe('the contract', () => {
    for (const each of storageContract(open, host)) test(each.name, each.run)
  })
})
