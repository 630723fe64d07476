import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresSchemaPlan } from '../../src/storage/postgres.ts'
import { sqliteSchemaPlan } from '../../src/storage/sqlite.ts'
import { runCommand, runInProcess } from './command.ts'

// Commands that open a database run in child processes of dist/cli.js, which must also end; the others, and what prepares a test,
// in this process.

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'forgelet-schema-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

const schema = (...args: readonly string[]) => runInProcess(folder, ['schema', ...args])
const schemaProcess = (...args: readonly string[]) => runCommand(folder, ['schema', ...args])

/** A file with our tables, changed by plain SQL. */
async function file(name: string, sql: string): Promise<string> {
  await schema('apply', '--db', name)
  const database = new Database(join(folder, name))
  database.exec(sql)
  database.close()
  return name
}

describe('forgelet schema', () => {
  test('reports that there are no tables, and creates no file', async () => {
    const { code, out, err } = await schemaProcess('status', '--db', 'none.sqlite')

    expect([code, out]).toEqual([1, 'empty\n'])
    expect(err).toContain('run "forgelet schema apply"')
    expect(existsSync(join(folder, 'none.sqlite'))).toBe(false)
  })

  test('creates the tables, and then reports them as current', async () => {
    const { code, out, err } = await schemaProcess('apply', '--db', 'made.sqlite')

    expect([code, out]).toEqual([0, 'current\n'])
    expect(err).toMatch(/^forgelet: the schema of made.sqlite is empty: [^\n]+\nforgelet: done in [\d.]+ s\n$/)
    expect(await schemaProcess('status', '--db', 'made.sqlite')).toEqual({ code: 0, out: 'current\n', err: '' })
    expect(await schemaProcess('status', '--db', 'made.sqlite', '--json')).toEqual({
      code: 0,
      out: '{"state":"current","warnings":[]}\n',
      err: '',
    })
  })

  test('has nothing to do where the tables are current', async () => {
    const name = await file('again.sqlite', 'select 1')

    expect(await schema('apply', '--db', name)).toEqual({
      code: 0,
      out: 'current\n',
      err: 'forgelet: the schema of again.sqlite is already up to date\n',
    })
  })

  test.each([
    ['outdated', 'update forgelet_ledger set version = 1'],
    ['too-new', 'update forgelet_ledger set version = 99, oldest_library = 99'],
    ['drifted', 'drop view forgelet_pins'],
  ])('reports with exit code 1 that tables are %s', async (state, sql) => {
    const name = await file(`${state}.sqlite`, sql)
    const { code, out } = await schemaProcess('status', '--db', name)

    expect([code, out]).toEqual([1, `${state}\n`])
  })

  test('does not report tables as current that it cannot repair', async () => {
    const name = await file('unmended.sqlite', 'drop view forgelet_pins')

    expect(await schemaProcess('apply', '--db', name)).toMatchObject({ code: 1, out: 'drifted\n' })
  })

  test('writes down the SQL that makes tables', async () => {
    const { code, out, err } = await schemaProcess('plan', '--prefix', 'x_', '--ids', 'user=uuid,issue=text')
    const database = new Database(':memory:')
    database.exec(out)

    expect([code, err]).toEqual([0, ''])
    expect(out).toBe(
      sqliteSchemaPlan({ prefix: 'x_', ids: { user: 'uuid', issue: 'text' } })
        .map((sql) => `${sql};\n`)
        .join(''),
    )
    expect(database.prepare('select user_ids, issue_ids from x_ledger').all()).toEqual([
      { user_ids: 'uuid', issue_ids: 'text' },
    ])
  })

  test.each([
    ['postgres://u:secret@db.invalid/forge', 'begin;\n'],
    ['postgresql://u:secret@db.invalid/forge', 'begin;\n'],
    ['mysql://u:secret@db.invalid/forge', 'create table if not exists `forgelet_ledger`'],
    ['mariadb://u:secret@db.invalid/forge', 'create table if not exists `forgelet_ledger`'],
  ])('writes that down without a connection: %s', async (url, beginning) => {
    const { code, out, err } = await schema('plan', '--db', url)

    expect([code, err]).toEqual([0, ''])
    expect(out.startsWith(beginning)).toBe(true)
  })

  test('writes down as JSON what is new since a version', async () => {
    const { out } = await schema('plan', '--db', 'postgres://', '--schema', 'forge', '--from', '1', '--json')

    expect(JSON.parse(out)).toEqual({ statements: postgresSchemaPlan({ schema: 'forge', from: 1 }) })
  })

  test('shows its help, with every option', async () => {
    const { code, out } = await schema('--help')

    expect(code).toBe(0)
    for (const option of ['db', 'prefix', 'schema', 'ids', 'from', 'json', 'help', 'version']) {
      expect(out).toMatch(new RegExp(`^  --${option}[ ,]`, 'm'))
    }
    expect(out.split('\n').every((line) => line.length <= 100)).toBe(true)
  })
})

describe('forgelet schema refuses', () => {
  test.each([
    ['no action', [], 'name an action: "status", "plan" or "apply"'],
    ['an unknown action', ['drop'], 'name an action: "status", "plan" or "apply"'],
    ['a word too many', ['status', 'forge.sqlite'], 'unexpected argument "forge.sqlite"'],
    ['an option of another command', ['status', '--port', '1'], 'unknown option --port: "forgelet schema --help"'],
    ['a blank database', ['status', '--db', ' '], '--db is blank'],
    ['a database that is gone with the command', ['apply', '--db', ':memory:'], '--db :memory: would be lost'],
    ['an unknown kind of database', ['status', '--db', 'oracle://u:secret@h/x'], '--db oracle://: give a postgres://'],
    ['an invalid URL', ['status', '--db', 'postgres://u:secret@h:x/y'], '--db postgres://: the URL cannot be read'],
    ['a URL without a database', ['status', '--db', 'mysql://u:secret@h'], 'the URL mysql://h names no database'],
    ['an invalid prefix', ['plan', '--prefix', 'X'], 'prefix must be'],
    ['an invalid schema', ['plan', '--db', 'postgres://', '--schema', 'a.b'], 'schema must be'],
    ['a schema on SQLite', ['plan', '--schema', 'a'], '--schema is for PostgreSQL'],
    ['an unknown kind of id', ['plan', '--ids', 'badge=uuid'], '--ids badge=uuid: write a list such as'],
    ['an unknown column type', ['plan', '--ids', 'user=int'], '--ids user=int: write a list such as'],
    ['half a pair', ['plan', '--ids', 'user'], '--ids user: write a list such as'],
    ['an invalid version', ['plan', '--from', 'x'], '--from x: give the version'],
    ['a version that is not there yet', ['plan', '--from', '99'], 'from must be the version of tables'],
    ['a version although the database has it', ['apply', '--from', '1'], '--from is for "forgelet schema plan"'],
  ])('%s, as wrong usage', async (_, args, line) => {
    const { code, out, err } = await schema(...args)

    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^forgelet: [^\n]+\n$/)
    expect(err).toContain(line)
    expect(err).not.toContain('secret')
  })

  test.each([
    [
      'apply',
      'postgres://u:secret@127.0.0.1:1/forge',
      'database postgres://127.0.0.1:1/forge cannot be used: the server refuses connections',
    ],
    [
      'status',
      'mysql://u:secret@127.0.0.1:1/forge',
      'database mysql://127.0.0.1:1/forge cannot be used: the server refuses connections',
    ],
    [
      'apply',
      'nowhere/forge.sqlite',
      'database nowhere/forge.sqlite cannot be used: the database file cannot be opened',
    ],
  ])('%s on a database that is not there: %s', async (action, database, line) => {
    const { code, out, err } = await schemaProcess(action, '--db', database)

    expect([code, out]).toEqual([3, ''])
    expect(err).toContain(`forgelet: ${line}`)
    expect(err).not.toContain('secret')
  })

  test('to make tables in a database that keeps ids in other columns', async () => {
    const name = await file('ids.sqlite', 'select 1')
    const { code, err } = await schemaProcess('apply', '--db', name, '--ids', 'user=uuid')

    expect([code, err]).toEqual([3, expect.stringContaining('the database stores user ids as bigint')])
    expect(err).toMatch(/: leave --ids out\n$/)
  })

  test.each([
    ['user=uuid', [], 'user=uuid'],
    ['user=uuid,issue=text', [], 'user=uuid,issue=text'],
    ['user=uuid,issue=text', ['--ids', 'user=uuid,repository=uuid'], 'user=uuid,issue=text'],
  ])('to report on ids %s that %j does not name, and names --ids', async (kept, given, needed) => {
    const name = `ids-${kept}-${given.length}.sqlite`
    await schema('apply', '--db', name, '--ids', kept)
    const { code, err } = await schema('status', '--db', name, ...given)

    expect([code, err]).toEqual([3, expect.stringContaining(`: give --ids ${needed}\n`)])
    expect(await schema('status', '--db', name, '--ids', needed)).toMatchObject({ code: 0, out: 'current\n' })
  })

  test('to make tables in a database for newer releases', async () => {
    const name = await file('newer.sqlite', 'update forgelet_ledger set version = 99, oldest_library = 99')
    const { code, err } = await schemaProcess('apply', '--db', name)

    expect([code, err]).toEqual([3, expect.stringContaining('install a newer forgelet')])
  })
})
