import { describe, expect, test } from 'vitest'
import { mariadbKind } from '../../storage/databases/mariadb.ts'
import { postgresKind } from '../../storage/databases/postgres.ts'
import { onServer, SERVERS } from '../../storage/databases/servers.ts'
import { aForge } from '../a-forge.ts'
import { joinSuite } from './join-suite.ts'

describe('join', () => {
  onServer(SERVERS.postgres, (url) => joinSuite(postgresKind(url)))
  onServer(SERVERS.mariadb, (url) => joinSuite(mariadbKind(url)))

  test('needs a storage with transactions', async () => {
    const joining = aForge().withTransaction(undefined, async () => undefined)
    await expect(joining).rejects.toThrow('withTransaction needs a storage with transactions')
  })
})
