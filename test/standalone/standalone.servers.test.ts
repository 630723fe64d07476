import { expect, test } from 'vitest'
import { openStandalone } from '../../src/standalone/standalone.ts'
import { newDatabase, onDatabase, POSTGRES, SERVER_KINDS } from '../databases.ts'
import { exchangeSuite } from './exchange/exchange-suite.ts'
import { WORLD } from './world.ts'
import { worldSuite } from './world-suite.ts'

worldSuite(SERVER_KINDS)
exchangeSuite(SERVER_KINDS)

onDatabase(POSTGRES, () => {
  test('a host in a schema of PostgreSQL is found there again', async () => {
    const database = await newDatabase(POSTGRES)
    const place = { db: database.url, schema: 'one', prefix: 'a_', fixture: WORLD, logger: false } as const
    for (const outcome of ['loaded', 'ignored']) {
      const host = await openStandalone(place)
      await host.close()
      expect(host.fixture).toBe(outcome)
    }

    expect(await database.run('select * from one.a_host_members')).toHaveLength(5)
  })
})
