import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { afterAll } from 'vitest'
import type { Actor, Forge, IssueTracker } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import { mysqlStorage } from '../../../src/storage/mysql.ts'
import type { PgClient } from '../../../src/storage/postgres.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../../src/storage/storage.ts'
import { onServer } from '../../storage/databases/servers.ts'
import type { TestDatabase } from '../../storage/sql/server/server-databases.ts'
import { MARIADB, newDatabase, POSTGRES } from '../../storage/sql/server/server-databases.ts'
import { RowTracker, TRACKER_TABLES } from '../trackers/row-tracker.ts'
import { importSuite } from './import-suite.ts'

const ends: (() => Promise<void>)[] = []
const atEnd = (end: () => Promise<void>): void => void ends.unshift(end)

afterAll(async () => {
  for (const end of ends) await end()
})

const TABLES = ['tracked_issues', 'tracked_comments', 'forgelet_heads', 'forgelet_events']

async function contentsOf(database: TestDatabase): Promise<unknown> {
  const all: unknown[] = []
  for (const table of TABLES) all.push([table, await database.run(`select * from ${table} order by 1, 2`)])
  return all
}

async function forgeOn<Tx>(storage: ForgeStorage<Tx>, issues: IssueTracker<Actor, Tx>): Promise<Forge<Actor, Tx>> {
  await storage.migrate()
  const policy = { authorize: () => ({ allow: true }) as const }
  const forge = createForge<Actor, Tx>({
    storage,
    policy,
    membership: { isMember: () => false },
    issues,
    logger: false,
  })
  atEnd(() => forge.close())
  return forge
}

onServer(POSTGRES.server, (server) => {
  importSuite('on PostgreSQL', async () => {
    const database = await newDatabase(POSTGRES, server, atEnd)
    for (const sql of TRACKER_TABLES) await database.run(sql.replaceAll('TEXT_TYPE', 'text'))
    const pool = new pg.Pool({ connectionString: database.url })
    atEnd(() => pool.end())
    const tracker = new RowTracker<Actor, PgClient>(async (sql, values, transaction) => {
      let place = 0
      const numbered = sql.replaceAll('?', () => {
        place += 1
        return `$${place}`
      })
      const client = transaction === undefined ? pool : (transaction as pg.ClientBase)
      return (await client.query(numbered, [...values])).rows
    })
    return {
      forge: await forgeOn(postgresStorage(pool), tracker),
      other: await forgeOn(postgresStorage(database.url), tracker),
      contents: () => contentsOf(database),
      async inTransaction(end, work) {
        const client = await pool.connect()
        try {
          await client.query('begin')
          const value = await work(client).catch(async (error: unknown) => {
            await client.query('rollback')
            throw error
          })
          await client.query(end)
          return value
        } finally {
          client.release()
        }
      },
    }
  })
})

onServer(MARIADB.server, (server) => {
  importSuite('on MariaDB', async () => {
    const database = await newDatabase(MARIADB, server, atEnd)
    for (const sql of TRACKER_TABLES) await database.run(sql.replaceAll('TEXT_TYPE', 'longtext character set utf8mb4'))
    const pool = createPool({ uri: database.url, charset: 'utf8mb4' })
    atEnd(() => pool.end())
    const tracker = new RowTracker<Actor, Awaited<ReturnType<typeof pool.getConnection>>>(
      async (sql, values, transaction) => {
        const [rows] = await (transaction ?? pool).query(sql, [...values])
        return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []
      },
    )
    return {
      forge: await forgeOn(mysqlStorage(pool), Object(tracker)),
      other: await forgeOn(mysqlStorage(database.url), Object(tracker)),
      contents: () => contentsOf(database),
      async inTransaction(end, work) {
        const connection = await pool.getConnection()
        try {
          await connection.query('begin')
          const value = await work(connection).catch(async (error: unknown) => {
            await connection.query('rollback')
            throw error
          })
          await connection.query(end)
          return value
        } finally {
          connection.release()
        }
      },
    }
  })
})
