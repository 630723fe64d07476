import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, test } from 'vitest'
import { openStandalone } from '../../src/standalone/standalone.ts'
import { postgresSchemaPlan } from '../../src/storage/postgres.ts'
import { sqliteSchemaPlan } from '../../src/storage/sqlite.ts'
import { SQLITE } from '../databases.ts'
import { runForgelet, runForgeletProcess } from '../start-forgelet.ts'
import { databaseCommands } from './database-commands-suite.ts'

// The commands that work on a database, on SQLite. serve.servers.test.ts has them on servers.

databaseCommands([SQLITE])

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forgelet-schema-'))
  return () => rmSync(folder, { recursive: true })
})

const schema = (...args: readonly string[]) => runForgelet(['schema', ...args], { folder })

/** Makes a file with our tables, changed by plain SQL. */
async function made(sql: string, ...options: readonly string[]): Promise<void> {
  await schema('apply', '--db', 'forge.sqlite', ...options)
  const database = new Database(join(folder, 'forge.sqlite'))
  database.exec(sql)
  database.close()
}

test('a token that fails for a new user fails the command: the user exists, and gets one by the other command', async () => {
  const run = (...args: readonly string[]) => runForgelet([...args, '--db', 'forge.sqlite'], { folder })
  await (await openStandalone({ db: join(folder, 'forge.sqlite') })).close()
  const database = new Database(join(folder, 'forge.sqlite'))
  database.exec("create trigger refuse before insert on host_tokens begin select raise(abort, 'no'); end")
  await expect(run('user', 'create', 'rosa')).rejects.toThrow('no')
  database.exec('drop trigger refuse')
  database.close()
  expect(await run('user', 'create', 'rosa')).toMatchObject({ code: 1 })
  expect(await run('token', 'create', 'rosa')).toMatchObject({ code: 0 })
})

describe('forgelet schema', () => {
  test('reports that there are no tables, and creates none', async () => {
    writeFileSync(join(folder, 'none.sqlite'), '')
    const { code, out, err } = await schema('status', '--db', 'none.sqlite')
    expect([code, out]).toEqual([1, 'empty\n'])
    expect(err).toContain('run "forgelet schema apply"')
    expect(readFileSync(join(folder, 'none.sqlite'), 'utf8')).toBe('')
  })

  test('creates the tables as a process, reports them as current, and has nothing else to do', async () => {
    const first = await runForgeletProcess(['schema', 'apply', '--db', 'forge.sqlite'], { folder })
    expect([first.code, first.out]).toEqual([0, 'current\n'])
    expect(first.err).toMatch(/^forgelet: the schema of forge.sqlite is empty: [^\n]+\nforgelet: done in [\d.]+ s\n$/)

    expect(await schema('status', '--db', 'forge.sqlite')).toEqual({ code: 0, out: 'current\n', err: '' })
    const json = await schema('status', '--db', 'forge.sqlite', '--json')
    expect(json).toEqual({ code: 0, out: '{"state":"current","warnings":[]}\n', err: '' })
    expect(await schema('apply', '--db', 'forge.sqlite')).toEqual({
      code: 0,
      out: 'current\n',
      err: 'forgelet: the schema of forge.sqlite is already up to date\n',
    })
  })

  test('does not report tables as current that it cannot repair', async () => {
    await made('drop view forgelet_pins')
    expect(await schema('apply', '--db', 'forge.sqlite')).toMatchObject({ code: 1, out: 'drifted\n' })
  })

  test('writes down the SQL that makes tables', async () => {
    const { code, out, err } = await schema('plan', '--prefix', 'x_', '--ids', 'user=uuid,issue=text')
    const plan = sqliteSchemaPlan({ prefix: 'x_', ids: { user: 'uuid', issue: 'text' } })
    expect({ code, out, err }).toEqual({ code: 0, out: plan.map((sql) => `${sql};\n`).join(''), err: '' })

    const database = new Database(':memory:')
    database.exec(out)
    const kept = [{ user_ids: 'uuid', issue_ids: 'text' }]
    expect(database.prepare('select user_ids, issue_ids from x_ledger').all()).toEqual(kept)
  })

  test.each([
    ['postgres', 'begin;\n'],
    ['postgresql', 'begin;\n'],
    ['mysql', 'create table if not exists `forgelet_ledger`'],
    ['mariadb', 'create table if not exists `forgelet_ledger`'],
  ])('writes that down without a connection: %s', async (protocol, beginning) => {
    const { code, out, err } = await schema('plan', '--db', `${protocol}://u:secret@db.invalid/forge`)
    expect([code, err, out.startsWith(beginning)]).toEqual([0, '', true])
  })

  test('writes down as JSON what is new since a version', async () => {
    const { out } = await schema('plan', '--db', 'postgres://', '--schema', 'forge', '--from', '1', '--json')
    expect(JSON.parse(out)).toEqual({ statements: postgresSchemaPlan({ schema: 'forge', from: 1 }) })
  })

  test('keeps ids in the columns that the database has, and says to leave --ids out', async () => {
    await made('select 1')
    const { code, err } = await schema('apply', '--db', 'forge.sqlite', '--ids', 'user=uuid')
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(/the database stores user ids as bigint.*: leave --ids out\n$/),
    ])
  })

  test.each([
    ['user=uuid', [], 'user=uuid'],
    ['user=uuid,issue=text', [], 'user=uuid,issue=text'],
    ['user=uuid,issue=text', ['--ids', 'user=uuid,repository=uuid'], 'user=uuid,issue=text'],
  ])('names the --ids %s that %j does not name', async (kept, given, needed) => {
    await made('select 1', '--ids', kept)
    const { code, err } = await schema('status', '--db', 'forge.sqlite', ...given)
    expect([code, err]).toEqual([3, expect.stringContaining(`: give --ids ${needed}\n`)])
    const right = await schema('status', '--db', 'forge.sqlite', '--ids', needed)
    expect(right).toMatchObject({ code: 0, out: 'current\n' })
  })
})
