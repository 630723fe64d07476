import Database from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { describe } from 'vitest'
import { kyselyStorage } from '../../src/storage/kysely.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { HostTables } from '../storage/kysely-kinds.ts'
import { heldOpen } from '../storage/kysely-kinds.ts'
import { tablesOf, trackerSuite, USERS } from './tracker-suite.ts'

const REPOSITORY_ID = 10

describe('examples/tracker-sqlite.mjs', () => {
  trackerSuite('tracker-sqlite.mjs', async () => {
    const handle = await openDatabase()
    return {
      handle,
      storage: sqliteStorage(handle),
      repositoryId: REPOSITORY_ID,
      begin() {
        handle.exec('begin immediate')
        const end = (statement: string) => async () => void handle.exec(statement)
        return { transaction: handle, commit: end('commit'), rollback: end('rollback') }
      },
      close: () => void handle.close(),
    }
  })
})

describe('examples/tracker-kysely.mjs', () => {
  trackerSuite('tracker-kysely.mjs', async () => {
    const handle = new Kysely<HostTables>({ dialect: new SqliteDialect({ database: await openDatabase() }) })
    return {
      handle,
      storage: kyselyStorage(handle, { dialect: 'sqlite' }),
      repositoryId: REPOSITORY_ID,
      begin: () => heldOpen(handle.transaction()),
      close: () => handle.destroy(),
    }
  })
})

async function openDatabase(): Promise<Database.Database> {
  const database = new Database(':memory:')
  database.exec(await tablesOf('tracker-sqlite.mjs'))
  database.exec(`insert into user ${USERS}`)
  return database
}
