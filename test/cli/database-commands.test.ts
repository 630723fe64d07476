import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, test } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { mariadbSchemaPlan } from '../../src/storage/mariadb.ts'
import { postgresSchemaPlan } from '../../src/storage/postgres.ts'
import { sqliteSchemaPlan } from '../../src/storage/sqlite.ts'
import { SQLITE } from '../databases.ts'
import { newFolder, runForgelet } from '../start-forgelet.ts'
import { databaseCommands } from './database-commands-suite.ts'

// The commands that work on a database, on SQLite. serve.servers.test.ts has them on servers.

databaseCommands([SQLITE])

let folder: string

beforeEach(async () => {
  folder = await newFolder()
})

const schema = (...args: readonly string[]) => runForgelet(['schema', ...args], { folder })

/** Changes forge.sqlite by plain SQL. */
function change(sql: string): void {
  const database = new Database(join(folder, 'forge.sqlite'))
  database.exec(sql)
  database.close()
}

test('a token that fails for a new user leaves no user', async () => {
  const run = (...args: readonly string[]) => runForgelet([...args, '--db', 'forge.sqlite'], { folder })
  await (await openStandalone({ db: join(folder, 'forge.sqlite') })).close()
  change("create trigger refuse before insert on host_tokens begin select raise(abort, 'no'); end")
  expect(await run('user', 'create', 'rosa')).toMatchObject({ code: 3 })
  change('drop trigger refuse')
  expect(await run('user', 'create', 'rosa')).toMatchObject({ code: 0 })
})

describe('forgelet schema', () => {
  test('reports that there are no tables, and creates none', async () => {
    writeFileSync(join(folder, 'none.sqlite'), '')
    const { code, out, err } = await schema('status', '--db', 'none.sqlite')
    expect([code, out]).toEqual([1, 'empty\n'])
    expect(err).toContain('there are no tables: run "forgelet serve", for an application "forgelet schema apply"')
    expect(readFileSync(join(folder, 'none.sqlite'), 'utf8')).toBe('')
  })

  test('creates the tables, reports them as current, and does not report as current what it cannot repair', async () => {
    for (const command of ['apply', 'apply', 'status']) {
      const current = { code: 0, out: '{"state":"current","warnings":[]}\n', err: '' }
      expect(await schema(command, '--db', 'forge.sqlite', '--json')).toEqual(current)
    }
    change('drop view forgelet_pins')
    expect(await schema('apply', '--db', 'forge.sqlite')).toMatchObject({ code: 0, out: 'current\n' })
    change('drop table forgelet_outbox')
    expect(await schema('apply', '--db', 'forge.sqlite')).toMatchObject({
      code: 1,
      out: 'drifted\nwarning: forgelet_outbox is missing\n',
    })
  })

  test.each([
    [['--prefix', 'x_', '--ids', 'user=uuid'], sqliteSchemaPlan({ prefix: 'x_', ids: { user: 'uuid' } })],
    [['--db', 'postgres://u@db.invalid/x'], postgresSchemaPlan()],
    [['--db', 'postgresql://', '--schema', 'forge'], postgresSchemaPlan({ schema: 'forge' })],
    [['--db', 'mysql://'], mariadbSchemaPlan()],
    [['--db', 'mariadb://'], mariadbSchemaPlan()],
  ])('writes down the SQL that makes tables, without a connection: %j', async (options, statements) => {
    const out = statements.map((sql) => `${sql};\n`).join('')
    expect(await schema('plan', ...options)).toEqual({ code: 0, out, err: '' })
    expect(JSON.parse((await schema('plan', ...options, '--json')).out)).toEqual({ statements })
  })
})
