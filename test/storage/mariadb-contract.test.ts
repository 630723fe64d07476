import { afterAll, describe, test } from 'vitest'
import { storageContract } from '../../src/testing/testing.ts'
import { mariadbKind } from './databases/mariadb.ts'
import { onServer, SERVERS } from './databases/servers.ts'

onServer(SERVERS.mariadb, (url) => {
  const { open, host, end } = mariadbKind(url)
  afterAll(end)

  describe('the contract', () => {
    for (const each of storageContract(open, host)) test(each.name, each.run)
  })
})
