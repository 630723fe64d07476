import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { HostStore } from '../../../src/standalone/host-store/host-store.ts'
import { openMysqlDatabase } from '../../../src/standalone/host-store/mysql-database.ts'
import { openPostgresDatabase } from '../../../src/standalone/host-store/postgres-database.ts'
import { onServer } from '../../storage/databases/servers.ts'
import { MARIADB, newDatabase, POSTGRES } from '../../storage/sql/server/server-databases.ts'
import { hostStoreSuite } from './host-store-suite.ts'
import { loadedStore } from './loaded-store.ts'
import { olderTablesCase } from './older-tables-suite.ts'

/** Calls, last first, after all tests of the file. */
const ends: (() => Promise<void>)[] = []
const atEnd = (end: () => Promise<void>): void => void ends.unshift(end)

afterAll(async () => {
  for (const end of ends) await end()
})

onServer(POSTGRES.server, (server) => {
  hostStoreSuite('in PostgreSQL', async (): Promise<HostStore> => {
    const { url } = await newDatabase(POSTGRES, server, atEnd)
    const database = openPostgresDatabase(url, {})
    atEnd(() => database.storage.close())
    return loadedStore(database)
  })

  olderTablesCase(async () => {
    const empty = await newDatabase(POSTGRES, server)
    const database = openPostgresDatabase(empty.url, {})
    onTestFinished(() => database.storage.close())
    return { database, run: (sql) => empty.run(sql) }
  })

  test('a store in a schema of PostgreSQL is found there again', async () => {
    const { url } = await newDatabase(POSTGRES, server, atEnd)
    const [database, beside] = ['one', 'two'].map((schema) => openPostgresDatabase(url, { schema, prefix: 'a_' }))
    if (database === undefined || beside === undefined) throw new TypeError('two databases were opened')
    atEnd(() => database.storage.close())
    atEnd(() => beside.storage.close())
    const store = await loadedStore(database)
    await beside.migrate()
    expect(await store.findAccount('alice')).toEqual({ id: '1', kind: 'user' })
    expect(
      await beside.rows({ sql: 'select * from one.a_host_members', parameters: [], returnsRows: true }),
    ).toHaveLength(5)
  })
})

onServer(MARIADB.server, (server) => {
  hostStoreSuite('in MariaDB', async (): Promise<HostStore> => {
    const { url } = await newDatabase(MARIADB, server, atEnd)
    const database = openMysqlDatabase(url, {})
    atEnd(() => database.storage.close())
    return loadedStore(database)
  })

  olderTablesCase(async () => {
    const empty = await newDatabase(MARIADB, server)
    const database = openMysqlDatabase(empty.url, {})
    onTestFinished(() => database.storage.close())
    return { database, run: (sql) => empty.run(sql) }
  }, [0, 8, 100])
})
