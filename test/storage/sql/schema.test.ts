import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runSync } from '../../../src/schema/sync-or-async.ts'
import { createSqlContext } from '../../../src/storage/sql/context.ts'
import { writtenStatement } from '../../../src/storage/sql/dialect.ts'
import { sqliteDialect } from '../../../src/storage/sql/dialects/sqlite.ts'
import { ALL_MIGRATIONS } from '../../../src/storage/sql/schema/all-migrations.ts'
import { migrateAtOnce } from '../../../src/storage/sql/schema/migrate-at-once.ts'
import type { Migration } from '../../../src/storage/sql/schema/migration.ts'
import { Schema } from '../../../src/storage/sql/schema/schema.ts'
import { Connection } from '../../../src/storage/sql/sqlite/connection.ts'
import { BOARD, block, define, grant, outcomeOf, pin, retire } from '../../../src/testing/testing.ts'
import { startProgram } from '../../start-forgelet.ts'
import { newFile, newStorage, openHandle, openStorage, watchedHandle } from './database-files.ts'

/** A file with our tables, changed by plain SQL. */
async function fileChangedBy(sql: string): Promise<string> {
  const file = newFile()
  await (await openStorage(file)).close()
  const handle = openHandle(file)
  handle.exec(sql)
  handle.close()
  return file
}

describe('the state of a schema', () => {
  test.each([
    ['current', 'select 1'],
    ['outdated', 'update forgelet_ledger set version = 0'],
    ['too-new', 'update forgelet_ledger set version = 9, oldest_library = 9'],
    ['current', 'update forgelet_ledger set version = 9'],
    ['drifted', 'drop view forgelet_pins'],
    ['drifted', 'drop table forgelet_heads'],
    ['drifted', 'drop index forgelet_events_user'],
    ['drifted', 'drop index forgelet_user_grants_badge'],
    ['drifted', 'drop trigger forgelet_events_position'],
    ['drifted', 'drop trigger forgelet_events_position; drop table forgelet_events'],
    ['drifted', 'alter table forgelet_events drop column position'],
    ['drifted', 'delete from forgelet_ledger'],
  ])('is %s after: %s', async (state, sql) => {
    const file = await fileChangedBy(
      sql.includes('column position') ? `drop trigger forgelet_events_position; ${sql}` : sql,
    )

    expect(await newStorage(file).schemaStatus()).toEqual({ state, warnings: [] })
  })

  test('is empty if the file does not exist, and creates no file', async () => {
    const file = newFile()

    expect(await newStorage(file).schemaStatus()).toEqual({ state: 'empty', warnings: [] })
    expect(existsSync(file)).toBe(false)
  })

  test('is empty in a database of other tables', async () => {
    const handle = openHandle(newFile())
    handle.exec('create table forgelet_notes (text text)')

    expect((await newStorage(handle).schemaStatus()).state).toBe('empty')
  })

  test('warns of a host handle that does not sync what it commits', async () => {
    const handle = openHandle(newFile())
    const storage = await openStorage(handle)
    handle.pragma('synchronous = off')
    const { warnings } = await storage.schemaStatus()

    expect(warnings).toEqual([expect.stringContaining('synchronous')])
  })
})

describe('a database that this library cannot use', () => {
  test('is SCHEMA_TOO_NEW when it is for newer libraries only, and not a byte of it is changed', async () => {
    const file = await fileChangedBy('update forgelet_ledger set version = 9, oldest_library = 7')
    const before = readFileSync(file)
    const storage = newStorage(file)
    const thrown = { code: 'SCHEMA_TOO_NEW', details: { found: 9, oldestLibrary: 7 } }

    expect(await outcomeOf(() => storage.migrate())).toMatchObject({ thrown })
    expect(await outcomeOf(() => pin(storage, BOARD, '1'))).toMatchObject({ thrown })
    expect(await outcomeOf(() => storage.pinBoards.load(BOARD))).toMatchObject({ thrown })
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(dirname(file))).toHaveLength(1)
  })

  test('is SCHEMA_OUTDATED until it is migrated', async () => {
    const file = await fileChangedBy('update forgelet_ledger set version = 0')

    expect(await outcomeOf(() => newStorage(file).pinBoards.load(BOARD))).toMatchObject({
      thrown: { code: 'SCHEMA_OUTDATED', details: { found: 0, needed: ALL_MIGRATIONS.length } },
    })
  })

  test.each(['a few words', 'x'.repeat(5000)])(
    'is STORAGE_UNAVAILABLE if it is not a database, and stays unchanged',
    async (content) => {
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
    },
  )

  test('can be used when only its newest parts are too new', async () => {
    const storage = await openStorage(await fileChangedBy('update forgelet_ledger set version = 9'))

    expect(await pin(storage, BOARD, '1')).toBe(1)
  })
})

describe('migrating', () => {
  test('leaves the tables of the host alone', async () => {
    const file = newFile()
    const handle = openHandle(file)
    handle.exec('create table issues (id integer primary key); insert into issues values (1)')
    await openStorage(file)

    expect(handle.prepare('select * from issues').all()).toEqual([{ id: 1 }])
  })

  test('makes STRICT tables only', async () => {
    const handle = openHandle(newFile())
    await openStorage(handle)
    const lax = handle.prepare("select name from pragma_table_list where type = 'table' and strict = 0")

    expect(lax.all().filter((row) => !JSON.stringify(row).includes('sqlite_'))).toEqual([])
  })

  test('takes the steps that are missing, once, in order', () => {
    const handle = openHandle(':memory:')
    const session = new Connection(handle, 'call', 'us')
    const context = createSqlContext(sqliteDialect)
    const newest = ALL_MIGRATIONS.length
    const more = [newest + 1, newest + 2].map(notingItself)
    for (const migrations of [ALL_MIGRATIONS, [...ALL_MIGRATIONS, ...more], [...ALL_MIGRATIONS, ...more]]) {
      runSync(migrateAtOnce(new Schema(context, migrations), session))
    }

    expect(
      handle.prepare("select name from sqlite_master where name like 'step_%' order by rowid").pluck().all(),
    ).toEqual(more.map(({ version }) => `step_${version}`))
    expect(handle.prepare('select version, oldest_library from forgelet_ledger').all()).toEqual([
      { version: newest + 2, oldest_library: 1 },
    ])
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

  test('by four processes at once makes one set of tables', async () => {
    const file = newFile()
    const script = join(import.meta.dirname, 'migrate.mjs')
    const children = [1, 2, 3, 4].map(() => startProgram([script, file]))
    await Promise.all(children.map((child) => child.line()))
    for (const child of children) child.stdin.end('go\n')
    const states = await Promise.all(children.map((child) => child.line()))
    await Promise.all(children.map(({ ended }) => ended)) // the last to close the file locks it

    expect(states).toEqual(['current', 'current', 'current', 'current'])
    expect(openHandle(file).prepare('select count(*) as rows from forgelet_ledger').all()).toEqual([{ rows: 1 }])
  })
})

/** A step that can be taken once, and shows when it was. */
function notingItself(version: number): Migration {
  return {
    version,
    oldestLibrary: 1,
    indexes: () => [],
    statements: () => [writtenStatement(`create table step_${version} (n integer)`)],
  }
}
