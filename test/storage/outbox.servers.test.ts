import { createConnection } from 'mysql2/promise'
import { afterAll, expect, test } from 'vitest'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { whileWaiting } from '../../src/testing/storage-contract/cases/gate.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/cases/sample-changes.ts'
import { consumedBy } from './consumed-by.ts'
import { MariadbDatabases, mariadbKind } from './databases/mariadb.ts'
import { PostgresDatabase, postgresKind } from './databases/postgres.ts'
import { onServer, SERVERS } from './databases/servers.ts'

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

  test('a read that has events to return does not wait for a transaction that is numbering', async () => {
    const { storage, query, end } = await start()
    await storage.migrate()
    await pin(storage, BOARD, '1')
    await storage.events.read({ after: undefined, limit: 10 })
    await pin(storage, BOARD, '2')
    await query('begin')
    await query('select * from forgelet_outbox for update')
    const page = await Promise.resolve(storage.events.read({ after: undefined, limit: 10 })).finally(() =>
      query('rollback'),
    )
    const rest = await Promise.resolve(storage.events.read({ after: page.cursor, limit: 10 })).finally(() =>
      Promise.all([storage.close(), end()]),
    )

    expect([page, rest].map(({ events }) => events.map(({ issueId }) => issueId))).toEqual([['1'], ['2']])
  })
}
