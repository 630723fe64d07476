import { Kysely, PostgresDialect } from 'kysely'
import { createConnection, createPool } from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { kyselyStorage } from '../../src/storage/kysely.ts'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { heldOpen } from '../storage/databases/kysely-host.ts'
import type { HostTables } from '../storage/databases/kysely-sqlite.ts'
import { MariadbDatabases } from '../storage/databases/mariadb.ts'
import { PostgresDatabase } from '../storage/databases/postgres.ts'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import { racingTrackerSuite, tablesOf, USERS } from './tracker-suite.ts'

// A database has one test after the other: each has a repository of its own.
let repositoryId = 10
const nextRepository = () => {
  repositoryId += 1
  return repositoryId
}

onServer(SERVERS.postgres, (server) => {
  const database = new PostgresDatabase(server)
  beforeAll(async () => {
    await database.run(await tablesOf('tracker-postgres.mjs'))
    await database.run(`insert into "user" ${USERS}`)
  })
  afterAll(() => database.end())

  describe('examples/tracker-postgres.mjs', () => {
    racingTrackerSuite('tracker-postgres.mjs', async () => {
      const handle = await database.pool
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

onServer(SERVERS.mariadb, (server) => {
  const databases = new MariadbDatabases(server)
  let url = ''
  beforeAll(async () => {
    url = (await databases.take()).url
    const connection = await createConnection({ uri: url, multipleStatements: true })
    await connection.query(await tablesOf('tracker-mariadb.mjs'))
    await connection.query(`insert into user ${USERS}`)
    await connection.end()
  })
  afterAll(() => databases.end())

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
