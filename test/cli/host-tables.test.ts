import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, test } from 'vitest'
import { newFolder, runForgelet } from '../start-forgelet.ts'
import { HOST_TABLES, hostTables } from '../storage/tables-suite.ts'

let db = ''
let tables = ''

beforeEach(async () => {
  const folder = await newFolder()
  db = join(folder, 'app.sqlite')
  tables = join(folder, 'tables.json')
  writeFileSync(tables, JSON.stringify(HOST_TABLES))
  run(...hostTables({ serial: 'integer primary key', integer: 'integer', text: 'text' }))
})

function run(...statements: readonly string[]): void {
  const database = new Database(db)
  for (const statement of statements) database.exec(statement)
  database.close()
}

describe('forgelet with --tables', () => {
  test('prints a plan that makes what apply makes', async () => {
    const { out } = await runForgelet(['schema', 'plan', '--db', db, '--tables', tables])
    run(out)
    expect(await runForgelet(['schema', 'status', '--db', db, '--tables', tables])).toMatchObject({
      code: 0,
      out: 'current\n',
    })
    expect(await runForgelet(['schema', 'apply', '--db', db, '--tables', tables])).toMatchObject({ code: 0 })
  })

  test('names a column that was renamed and a trigger that is missing, and asks for the tables', async () => {
    await runForgelet(['schema', 'apply', '--db', db, '--tables', tables])
    const doctor = () => runForgelet(['doctor', '--db', db, '--tables', tables])
    expect(await doctor()).toMatchObject({ code: 0 })
    run('alter table host_orgs rename column slug to handle', 'drop trigger forgelet_issue_removed')
    const { code, out } = await doctor()
    expect(code).toBe(1)
    expect(out).toContain('warning: tables.organizations.name: host_orgs has no column slug')
    expect(out).toContain('warning: forgelet_issue_removed is missing: call migrate()')
    expect(await runForgelet(['doctor', '--db', db])).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /the tables of the forge follow those of the host: give the same with --tables FILE\n$/,
      ),
    })
  })
})
