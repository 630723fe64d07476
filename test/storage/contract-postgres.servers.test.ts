import type pg from 'pg'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { DatabaseKind } from '../databases.ts'
import { onServer, postgresKind, SERVERS } from '../databases.ts'
import { hostPool, KYSELY_POSTGRES, POSTGRES_JS } from './client-kinds.ts'
import { contractSuite, isBeforeEachChange, QUICK_FORM } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

const OWN = postgresKind()

/** A host that keeps its pool: a connection plans each statement anew, which takes most of the time of a case. */
const WITH_A_POOL: DatabaseKind<pg.Client> = {
  ...OWN,
  async open(url) {
    const host = await OWN.open(url)
    const pool = hostPool(url, { pipeline: true, max: 10 })
    return {
      ...host,
      storage: (options) => postgresStorage<pg.Client>(pool, options),
      end: async () => {
        await pool.end()
        await host.end()
      },
    }
  },
}

onServer(SERVERS.postgres, () => contractSuite(storageKind(WITH_A_POOL), isBeforeEachChange))
onServer(SERVERS.postgres, () => {
  contractSuite(storageKind(KYSELY_POSTGRES), (name, names) => QUICK_FORM.test(name) && isBeforeEachChange(name, names))
  contractSuite(storageKind(POSTGRES_JS), (name, names) => QUICK_FORM.test(name) && isBeforeEachChange(name, names))
})
