import { describe, test } from 'vitest'
import { SQLITE } from '../databases.ts'
import { raceWithHost } from './tables-races.ts'
import type { HostDialect } from './tables-suite.ts'
import { tablesSuite } from './tables-suite.ts'

const SQLITE_HOST: HostDialect = {
  name: 'SQLite',
  serial: 'integer primary key',
  integer: 'integer',
  text: 'text',
  drops: "select 'drop trigger ' || name as statement from sqlite_master where type = 'trigger'",
}

describe('on SQLite', () => {
  tablesSuite(SQLITE, SQLITE_HOST)

  test('changes that race with what the host deletes and adds leave nothing wrong', { timeout: 300_000 }, async () => {
    const rounds = process.env['LONG'] === '1' ? 200 : 6
    await raceWithHost(SQLITE, SQLITE_HOST, { rounds, settings: ['pragma busy_timeout = 0'] })
  })
})
