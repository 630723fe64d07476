import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { kyselyStorage } from '../../src/storage/kysely.ts'
import type { TestDatabase } from '../databases.ts'
import { newDatabase, onDatabase, POSTGRES } from '../databases.ts'
import type { HostTables } from '../storage/kysely-kinds.ts'
import { heldOpen } from '../storage/kysely-kinds.ts'
import { racingTrackerSuite, tablesOf, USERS } from './tracker-suite.ts'

onDatabase(POSTGRES, () => {
  let database: TestDatabase
  let repositoryId = 10
  beforeAll(async () => {
    database = await newDatabase(POSTGRES, { atEnd: afterAll })
    await database.run(await tablesOf('tracker-kysely.mjs'))
    await database.run(`insert into "user" ${USERS}`)
  })

  describe('examples/tracker-kysely.mjs', () => {
    racingTrackerSuite('tracker-kysely.mjs', async () => {
      const pool = new pg.Pool({ connectionString: database.url })
      pool.on('error', () => undefined) // the database may go before its last connection has ended
      const handle = new Kysely<HostTables>({ dialect: new PostgresDialect({ pool }) })
      repositoryId += 1 // a database has one test after the other
      return {
        handle,
        storage: kyselyStorage(handle, { dialect: 'postgres' }),
        repositoryId,
        begin: () => heldOpen(handle.transaction()),
        close: () => handle.destroy(),
      }
    })
  })
})
