import { createConnection } from 'mysql2/promise'
import { afterAll, describe, expect, test } from 'vitest'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { whileWaiting } from '../../src/testing/storage-contract/cases/gate.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/cases/sample-changes.ts'
import { watchCrowd } from './crowd.ts'
import { MariadbDatabases, mariadbKind } from './databases/mariadb.ts'
import { PostgresDatabase, postgresKind } from './databases/postgres.ts'
import { onServer, SERVERS } from './databases/servers.ts'
import { sqliteFileKind } from './databases/sqlite.ts'
import type { StorageKind } from './databases/storage-kind.ts'

const CHANGES = process.env['FORGELET_TEST_LONG'] === '1' ? 300 : 30
const LONGEST = 600_000 // milliseconds: the bound of the long form on a busy machine, never waited for

describe('in a SQLite file', () => consumedBy(sqliteFileKind()))
onServer(SERVERS.postgres, (url) => {
  consumedBy(postgresKind(url))

  const database = new PostgresDatabase(url)
  afterAll(() => database.end())
  numberedByAnother(async () => {
    const client = await (await database.pool).connect()
    return {
      storage: postgresStorage(database.url),
      query: (text) => client.query(text),
      end: async () => client.release(),
    }
  })
})
onServer(SERVERS.mariadb, (url) => {
  consumedBy(mariadbKind(url))

  const databases = new MariadbDatabases(url)
  afterAll(() => databases.end())
  numberedByAnother(async () => {
    const { url: database } = await databases.take()
    const connection = await createConnection(database)
    return {
      storage: mysqlStorage(database),
      query: (text) => connection.query(text),
      end: () => connection.end(),
    }
  })
})

function consumedBy<Tx>(kind: StorageKind<Tx>): void {
  afterAll(kind.end)

  test('three that consume one name beside twenty writers get every committed event once, in order', {
    timeout: LONGEST,
  }, async () => {
    const told = await watchCrowd(kind, CHANGES)

    expect(told.outbox.toSorted()).toEqual(told.committed.toSorted())
    expect(told.consumed).toEqual(told.outbox)
    expect(told.consumers.size).toBeGreaterThan(1)
  })
}

interface Server {
  readonly storage: ForgeStorage<never>
  /** Runs a statement on a connection of its own. */
  query(text: string): Promise<unknown>
  end(): Promise<void>
}

function numberedByAnother(start: () => Promise<Server>): void {
  test('a read gives what another is numbering, and not an empty page', async () => {
    const { storage, query, end } = await start()
    await storage.migrate()
    await pin(storage, BOARD, '1')
    await query('begin')
    await query('select * from forgelet_outbox for update')
    const read = Promise.resolve(storage.events.read({ after: undefined, limit: 10 }))
    await whileWaiting(read)
    await query('commit')
    const page = await read.finally(() => Promise.all([storage.close(), end()]))

    expect(page.events.map(({ issueId }) => issueId)).toEqual(['1'])
  })
}
