import { expect, test } from 'vitest'
import { createUser, openStandalone } from '../../app/standalone/standalone.ts'
import { newDatabase, onServer, POSTGRES, SERVERS } from '../databases.ts'
import { WORLD } from './world.ts'

onServer(SERVERS.postgres, () => {
  test('a server assigns ids behind those that a logical replication brought without its sequences', async () => {
    const database = await newDatabase(POSTGRES)
    const db = database.url
    await (await openStandalone({ db, fixture: WORLD })).close()
    const columns = await database.run(
      "select table_name as name from information_schema.columns where column_name = 'id' and is_identity = 'YES' and table_name not like '%events'",
    )
    for (const { name } of columns) await database.run(`alter table ${name} alter column id restart`)
    expect(columns.length).toBeGreaterThan(3)

    await expect(createUser({ db }, 'late')).rejects.toThrow()
    await (await openStandalone({ db })).close()
    expect(await createUser({ db }, 'late')).toMatchObject({ token: expect.any(String) })
    for (const { name } of columns) {
      const behind = `select 1 as found from ${name} having max(id) > coalesce(pg_sequence_last_value(pg_get_serial_sequence('${name}', 'id')::regclass), 0)`
      expect([name, await database.run(behind)]).toEqual([name, []])
    }
  })
})
