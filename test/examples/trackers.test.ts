import Database from 'better-sqlite3'
import { describe } from 'vitest'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
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

async function openDatabase(): Promise<Database.Database> {
  const database = new Database(':memory:')
  database.exec(await tablesOf('tracker-sqlite.mjs'))
  database.exec(`insert into user ${USERS}`)
  return database
}
