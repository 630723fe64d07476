import { Kysely, PostgresDialect } from 'kysely'
import { createConnection, createPool } from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { kyselyStorage } from '../../src/storage/kysely.ts'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { TestDatabase } from '../databases.ts'
import { MARIADB, newDatabase, onServer, POSTGRES, SERVERS } from '../databases.ts'
import type { HostTables } from '../storage/kysely-kinds.ts'
import { heldOpen } from '../storage/kysely-kinds.ts'
import { racingTrackerSuite, tablesOf, USERS } from './tracker-suite.ts'

// A database has one test after the other: each has a repository of its own.
let repositoryId = 10
const nextRepository = () => {
  repositoryId += 1
  return repositoryId
}

onServer(SERVERS.postgres, () => {
  let database: TestDatabase
  let handle: pg.Pool
  beforeAll(async () => {
    database = await newDatabase(POSTGRES, { atEnd: afterAll })
    handle = new pg.Pool({ connectionString: database.url })
    handle.on('error', () => undefined) // the database may go before its last connection has ended
    await database.run(await tablesOf('tracker-postgres.mjs'))
    await database.run(`insert into "user" ${USERS}`)
  })
  afterAll(() => handle.end())

  describe('examples/tracker-postgres.mjs', () => {
    racingTrackerSuite('tracker-postgres.mjs', async () => {
      return {
        handle,
        storage: postgresStorage(handle),
        repositoryId: nextRepository(),
        async begin() {
          const client = await handle.connect()
          await client.query('begin')
          const end = (statement: string) => async () => void (await client.query(statement))
          return {
            transaction: client,
            commit: end('commit'),
            rollback: end('rollback'),
            release: () => client.release(),
          }
        },
        close: () => undefined,
      }
    })
  })

  describe('examples/tracker-kysely.mjs', () => {
    racingTrackerSuite('tracker-kysely.mjs', async () => {
      const pool = new pg.Pool({ connectionString: database.url })
      pool.on('error', () => undefined)
      const handle = new Kysely<HostTables>({ dialect: new PostgresDialect({ pool }) })
      return {
        handle,
        storage: kyselyStorage(handle, { dialect: 'postgres' }),
        repositoryId: nextRepository(),
        begin: () => heldOpen(handle.transaction()),
        close: () => handle.destroy(),
      }
    })
  })
})

onServer(SERVERS.mariadb, () => {
  let url = ''
  beforeAll(async () => {
    url = (await newDatabase(MARIADB, { atEnd: afterAll })).url
    const connection = await createConnection({ uri: url, multipleStatements: true })
    await connection.query(await tablesOf('tracker-mariadb.mjs'))
    await connection.query(`insert into user ${USERS}`)
    await connection.end()
  })

  describe('examples/tracker-mariadb.mjs', () => {
    racingTrackerSuite('tracker-mariadb.mjs', async () => {
      const handle = createPool(url)
      return {
        handle,
        storage: mysqlStorage(handle),
        repositoryId: nextRepository(),
        async begin() {
          const connection = await handle.getConnection()
          await connection.beginTransaction()
          return {
            transaction: connection,
            commit: () => connection.commit(),
            rollback: () => connection.rollback(),
            release: () => connection.release(),
          }
        },
        close: () => handle.end(),
      }
    })
  })
})
