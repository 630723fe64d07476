import { afterAll } from 'vitest'
import { openMysqlDatabase } from '../../../src/standalone/host-store/mysql-database.ts'
import { openPostgresDatabase } from '../../../src/standalone/host-store/postgres-database.ts'
import { onServer } from '../../storage/databases/servers.ts'
import { MARIADB, newDatabase, POSTGRES } from '../../storage/sql/server/server-databases.ts'
import { trackerSuite } from './tracker-suite.ts'
import { trackerWorld } from './tracker-world.ts'

/** Calls, last first, after all tests of the file. */
const ends: (() => Promise<void>)[] = []
const atEnd = (end: () => Promise<void>): void => void ends.unshift(end)

afterAll(async () => {
  for (const end of ends) await end()
})

onServer(POSTGRES.server, (server) => {
  trackerSuite('in PostgreSQL', async () => {
    const database = openPostgresDatabase((await newDatabase(POSTGRES, server, atEnd)).url, {})
    atEnd(() => database.storage.close())
    return trackerWorld(database)
  })
})

onServer(MARIADB.server, (server) => {
  trackerSuite('in MariaDB', async () => {
    const database = openMysqlDatabase((await newDatabase(MARIADB, server, atEnd)).url, {})
    atEnd(() => database.storage.close())
    return trackerWorld(database)
  })
})
