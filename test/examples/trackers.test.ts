import Database from 'better-sqlite3'
import { describe } from 'vitest'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { tablesOf, trackerSuite, USERS } from './tracker-suite.ts'

describe('examples/tracker-sqlite.mjs', () => {
  trackerSuite('tracker-sqlite.mjs', async () => {
    const handle = new Database(':memory:')
    handle.exec(await tablesOf('tracker-sqlite.mjs'))
    handle.exec(`insert into user ${USERS}`)
    return {
      handle,
      storage: sqliteStorage(handle),
      repositoryId: 10,
      begin() {
        handle.exec('begin immediate')
        const end = (statement: string) => async () => void handle.exec(statement)
        return { transaction: handle, commit: end('commit'), rollback: end('rollback') }
      },
      close: () => void handle.close(),
    }
  })
})
