import { describe, expect, test } from 'vitest'
import { mysqlSchemaPlan } from '../../../src/storage/mysql.ts'
import { postgresSchemaPlan } from '../../../src/storage/postgres.ts'
import { ALL_MIGRATIONS } from '../../../src/storage/sql/schema/all-migrations.ts'
import { sqliteSchemaPlan } from '../../../src/storage/sqlite.ts'
import { newFile, newStorage, openHandle } from './database-files.ts'

const NEWEST = ALL_MIGRATIONS.length
const OTHER = { prefix: 'x_', ids: { organization: 'uuid', issue: 'text' } } as const

describe('the plan of a schema', () => {
  test.each([undefined, OTHER])('run by hand on SQLite makes what migrate() makes: %o', async (options) => {
    const handle = openHandle(newFile())
    for (const sql of sqliteSchemaPlan(options)) handle.exec(sql)
    const migrated = openHandle(newFile())
    await newStorage(migrated, options).migrate()
    const things = 'select type, name, sql from sqlite_master order by name'

    expect(handle.prepare(things).all()).toEqual(migrated.prepare(things).all())
    expect(await newStorage(handle, options).schemaStatus()).toMatchObject({ state: 'current' })
  })

  test.each([sqliteSchemaPlan, postgresSchemaPlan, mysqlSchemaPlan])(
    'has nothing left to do from the newest version on, and all of it from none: %o',
    (plan) => {
      expect(plan({ from: NEWEST })).toEqual([])
      expect(plan({ from: 0 })).toEqual(plan())
      expect(plan().slice(-plan({ from: 1 }).length)).toEqual(plan({ from: 1 }))
    },
  )

  test.each([{ from: NEWEST + 1 }, { from: -1 }, { from: 0.5 }, { prefix: 'X' }, { schema: 'a.b' }, { schema: '' }])(
    'refuses %o',
    (options) => {
      expect(() => postgresSchemaPlan(options)).toThrow(TypeError)
    },
  )

  test('makes indexes on tables that are in use outside of transactions, where PostgreSQL wants that', () => {
    const plan = postgresSchemaPlan()
    const open = plan.map((_, place) => {
      const before = plan.slice(0, place)
      return before.filter((sql) => sql === 'begin').length - before.filter((sql) => sql === 'commit').length
    })
    const concurrent = plan.flatMap((sql, place) => (sql.includes('concurrently') ? open[place] : []))

    expect(concurrent).toEqual([0, 0])
  })

  test('names the schema of every table, index and view', () => {
    const plan = postgresSchemaPlan({ schema: 'Forge' })
    const naming = plan.filter((sql) => /^(create (table|view)|insert|update)/.test(sql))

    expect(naming.length).toBeGreaterThan(15)
    expect(naming.filter((sql) => !/^[a-z ]+ "Forge"\."forgelet_/.test(sql))).toEqual([])
    expect(plan.filter((sql) => sql.includes('index') && !sql.includes(' on "Forge"."forgelet_'))).toEqual([])
  })
})
