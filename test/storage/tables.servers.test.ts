import { expect, test } from 'vitest'
import { outcomeOf, pin } from '../../src/testing/testing.ts'
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
  drops: `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
    from pg_constraint where conname like 'forgelet%fk' union all
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) from pg_trigger where not tgisinternal`,
}
const MARIADB_HOST: HostDialect = {
  name: 'MariaDB',
  serial: 'int unsigned primary key',
  integer: 'int unsigned',
  text: 'varchar(100) collate utf8mb4_bin',
  drops: `select concat('alter table ', table_name, ' drop foreign key ', constraint_name) as statement
    from information_schema.referential_constraints where constraint_schema = database() and constraint_name like 'forgelet%fk'
    union all select concat('drop trigger ', trigger_name) from information_schema.triggers where trigger_schema = database()`,
}
const RACES = 'changes that race with what the host deletes and adds leave nothing wrong'

onServer(SERVERS.postgres, () => {
  tablesSuite(POSTGRES, POSTGRES_HOST)

  test('a key that is deferrable is refused by name, because no foreign key can refer to it', async () => {
    const database = await newDatabase(POSTGRES)
    const serial = 'integer primary key deferrable'
    await database.run(`create table host_users (id ${serial}, username text)`)
    const users = { table: 'host_users', name: 'username' }
    await expect(database.migrated({ tables: { users } })).rejects.toMatchObject({
      code: 'SCHEMA_CONFLICT',
      message: expect.stringContaining('host_users.id is neither the primary key nor unique'),
    })
  })

  test(RACES, { timeout: 300_000 }, async () => {
    await raceWithHost(POSTGRES, POSTGRES_HOST, { rounds: ROUNDS })
  })
})

onServer(SERVERS.mariadb, () => {
  tablesSuite(MARIADB, MARIADB_HOST)

  test('tables follow those of the host although processes without tables add orphans meanwhile', async () => {
    const database = await newDatabase(MARIADB)
    for (const statement of hostTables(MARIADB_HOST)) await database.run(statement)
    const before = await database.migrated()
    let isMigrating = true
    const adding = ['1', '2', '3'].map(async (n) => {
      for (let at = 0; isMigrating; at += 1) {
        await outcomeOf(() => pin(before, { repositoryId: `${n}${at}`, kind: 'issue' }, `${n}${at}`))
      }
    })
    const storage = await database.migrated({ tables: HOST_TABLES }).finally(() => {
      isMigrating = false
    })
    await Promise.all(adding)
    expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await database.run('select * from forgelet_board_pins')).toEqual([])
  })

  test.each(['REPEATABLE READ', 'READ COMMITTED'])(`${RACES}, at %s`, { timeout: 300_000 }, async (level) => {
    const settings = [`set session transaction isolation level ${level}`]
    const { ofHost } = await raceWithHost(MARIADB, MARIADB_HOST, { rounds: ROUNDS, settings })
    expect(ofHost).toBeLessThan(ROUNDS)
  })
})
