import { expect, onTestFinished, test } from 'vitest'
import type { HostStore } from '../../src/standalone/host-store/host-store.ts'
import { openPostgresDatabase } from '../../src/standalone/host-store/postgres-database.ts'
import { MARIADB, newDatabase, onDatabase, POSTGRES } from '../databases.ts'
import { exchangeSuite } from './exchange/exchange-suite.ts'
import { exchangeWorld } from './exchange/exchange-world.ts'
import { onHostDatabases } from './host-databases.ts'
import { hostStoreSuite } from './host-store/host-store-suite.ts'
import { loadedStore } from './host-store/loaded-store.ts'
import { trackerSuite } from './tracker/tracker-suite.ts'
import { trackerWorld } from './tracker/tracker-world.ts'

onHostDatabases([POSTGRES, MARIADB], (open) => {
  hostStoreSuite('in tables', () => open<HostStore>(loadedStore))
  trackerSuite(() => open(trackerWorld))
  exchangeSuite(() => open(exchangeWorld))
})

onDatabase(POSTGRES, () => {
  test('a store in a schema of PostgreSQL is found there again', async () => {
    const { url } = await newDatabase(POSTGRES)
    const [database, beside] = (['one', 'two'] as const).map((schema) => {
      const opened = openPostgresDatabase(url, { schema, prefix: 'a_' })
      onTestFinished(() => opened.storage.close())
      return opened
    })
    if (database === undefined || beside === undefined) throw new TypeError('two databases were opened')
    const store = await loadedStore(database)
    await beside.migrate()
    expect(await store.findAccount('alice')).toEqual({ id: '1', kind: 'user' })
    const rows = { sql: 'select * from one.a_host_members', parameters: [], returnsRows: true }
    expect(await beside.rows(rows)).toHaveLength(5)
  })
})
