// The examples import the package by its name, and so what is built in dist/.
import { describe } from 'vitest'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import { dropWatchesAtCommitCases, dropWatchesCases } from './drop-watches-cases.ts'
import { mariadbDatabase, postgresDatabase } from './host-databases.ts'
import { pinNewIssueCases } from './pin-new-issue-cases.ts'

onServer(SERVERS.postgres, (url) => {
  const make = () => postgresDatabase(url)
  describe('examples/pin-new-issue-postgres.mjs', () => pinNewIssueCases('pin-new-issue-postgres.mjs', make))
  describe('examples/drop-watches-postgres.mjs', () => {
    dropWatchesCases('drop-watches-postgres.mjs', make)
    dropWatchesAtCommitCases('drop-watches-postgres.mjs', make)
  })
})

onServer(SERVERS.mariadb, (url) => {
  const make = () => mariadbDatabase(url)
  describe('examples/drop-watches-mariadb.mjs', () => dropWatchesCases('drop-watches-mariadb.mjs', make))
})
