import { expect, test } from 'vitest'
import { MARIADB, newDatabase, onServer, POSTGRES, SERVERS } from '../databases.ts'
import { raceWithHost } from './tables-races.ts'
import type { HostDialect } from './tables-suite.ts'
import { HOST_TABLES, hostTables, tablesSuite } from './tables-suite.ts'

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

  test('a new member is looked for in the tables that the migration saw, with any search_path', async () => {
    const database = await newDatabase(POSTGRES)
    for (const statement of hostTables(POSTGRES_HOST)) await database.run(statement)
    const members = { ...HOST_TABLES.members, where: "role <> 'left'" }
    const storage = await database.migrated({ schema: 'forge', tables: { ...HOST_TABLES, members } })
    await database.runAll([
      "insert into host_users (id, username) values (1, 'mia')",
      "insert into host_orgs (id, slug) values (5, 'acme')",
    ])
    const block = { organizationId: '5', userId: '1' }
    const { run } = await database.connect()
    await run("set search_path = ''")
    await run("insert into public.host_members values (5, 1, 'left')")
    await run("update public.host_members set role = 'member'")
    expect(await storage.host?.isMember?.(block, {})).toBe(true)
  })

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
