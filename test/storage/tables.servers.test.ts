import { expect, test } from 'vitest'
import { MARIADB, onServer, POSTGRES, SERVERS } from '../databases.ts'
import { raceWithHost } from './tables-races.ts'
import type { HostDialect } from './tables-suite.ts'
import { tablesSuite } from './tables-suite.ts'

const ROUNDS = process.env['LONG'] === '1' ? 200 : 18
const POSTGRES_HOST: HostDialect = {
  name: 'PostgreSQL',
  serial: 'integer primary key',
  integer: 'integer',
  text: 'text',
}
const MARIADB_HOST: HostDialect = {
  name: 'MariaDB',
  serial: 'int unsigned primary key',
  integer: 'int unsigned',
  text: 'varchar(100) collate utf8mb4_bin',
}
const RACES = 'changes that race with what the host deletes and adds leave nothing wrong'

onServer(SERVERS.postgres, () => {
  tablesSuite(POSTGRES, POSTGRES_HOST)

  test(RACES, { timeout: 300_000 }, async () => {
    await raceWithHost(POSTGRES, POSTGRES_HOST, { rounds: ROUNDS })
  })
})

onServer(SERVERS.mariadb, () => {
  tablesSuite(MARIADB, MARIADB_HOST)

  test.each(['REPEATABLE READ', 'READ COMMITTED'])(`${RACES}, at %s`, { timeout: 300_000 }, async (level) => {
    const settings = [`set session transaction isolation level ${level}`]
    const { ofHost } = await raceWithHost(MARIADB, MARIADB_HOST, { rounds: ROUNDS, settings })
    expect(ofHost).toBeLessThan(ROUNDS)
  })
})
