import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { postgresSchemaPlan } from '../../src/storage/postgres.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import { define, grant } from '../../src/testing/storage-contract/samples/badges.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { retire } from '../../src/testing/storage-contract/samples/retirements.ts'
import { SQLITE } from '../databases.ts'
import { schemaSuite } from './schema-suite.ts'
import { newFile, newStorage, openHandle, openStorage, watchedHandle } from './sql/database-files.ts'

schemaSuite([SQLITE])

describe('the state of a schema', () => {
  test('is empty if the file does not exist, and creates no file', async () => {
    const file = newFile()

    expect(await newStorage(file).schemaStatus()).toEqual({ state: 'empty', warnings: [] })
    expect(existsSync(file)).toBe(false)
  })

  test('warns of a host handle that does not sync what it commits', async () => {
    const handle = openHandle(newFile())
    const storage = await openStorage(handle)
    handle.pragma('synchronous = off')
    const { warnings } = await storage.schemaStatus()

    expect(warnings).toEqual([expect.stringContaining('synchronous')])
  })
})

describe('a file that this library cannot use keeps every byte', () => {
  test.each(['a few words', 'x'.repeat(5000)])('when it is not a database', async (content) => {
    const file = newFile()
    writeFileSync(file, content)
    const storage = newStorage(file)

    for (const call of [() => storage.migrate(), () => storage.schemaStatus(), () => pin(storage, BOARD, '1')]) {
      expect(await outcomeOf(call)).toMatchObject({
        thrown: { code: 'STORAGE_UNAVAILABLE', message: 'the file is not an SQLite database' },
      })
    }
    expect(readFileSync(file, 'utf8')).toBe(content)
    expect(readdirSync(dirname(file))).toHaveLength(1)
  })
})

describe('migrating', () => {
  test('makes STRICT tables only', async () => {
    const handle = openHandle(newFile())
    await openStorage(handle)
    const lax = handle.prepare("select name from pragma_table_list where type = 'table' and strict = 0")

    expect(lax.all().filter((row) => !JSON.stringify(row).includes('sqlite_'))).toEqual([])
  })

  test('is the only thing that makes or changes tables', async () => {
    const { handle, statements } = watchedHandle(newFile())
    const storage = await openStorage(handle)
    statements.length = 0
    await define(storage, 'night-owl')
    await Promise.all([pin(storage, BOARD, '1'), block(storage, '1', '2'), grant(storage, '2', ['night-owl'])])
    await retire(storage, { thing: 'user', userId: '2' })

    expect(statements.length).toBeGreaterThan(20)
    expect(statements.filter((sql) => /^\s*(create|alter|drop)/i.test(sql))).toEqual([])
  })
})

describe('the plan of a schema', () => {
  test.each([{ prefix: 'X' }, { schema: 'a.b' }, { schema: '' }])('refuses %o', (options) => {
    expect(() => postgresSchemaPlan(options)).toThrow(TypeError)
  })

  test('names the schema of every table, index and view', () => {
    const plan = postgresSchemaPlan({ schema: 'Forge' })
    const naming = plan.filter((sql) => /^(create (table|view)|insert|update)/.test(sql))

    expect(naming.length).toBeGreaterThan(14)
    expect(naming.filter((sql) => !/^[a-z ]+ "Forge"\."forgelet_/.test(sql))).toEqual([])
    expect(plan.filter((sql) => sql.includes('index') && !sql.includes(' on "Forge"."forgelet_'))).toEqual([])
  })
})

test('a host joins the views with its tables by an index, and writes through none', async () => {
  const handle = openHandle(newFile())
  handle.exec('create table issues (id integer primary key, title text)')
  await openStorage(handle)
  const join = 'select title, position from issues left join forgelet_pins on issue_id = issues.id'

  expect(JSON.stringify(handle.prepare(`explain query plan ${join}`).all())).toMatch(/SEARCH forgelet_board_pins/)
  expect(() => handle.exec('delete from forgelet_pins')).toThrow(/view/)
})
