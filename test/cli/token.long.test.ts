import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runCommand, startServe } from './command.ts'
import { TOKEN_WORLD, tokenSuite } from './token-suite.ts'

// Real child processes of dist/cli.js.

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-token-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'world.json'), JSON.stringify(TOKEN_WORLD))
  return folder
}

tokenSuite(async () => ({ folder: await newFolder(), db: 'forge.sqlite' }))

test.each([
  [['token', 'create'], 'write "forgelet token create USER"'],
  [['token', 'list', 'alice', 'sam'], 'write "forgelet token list USER"'],
  [['token', 'revoke', 'alice'], 'write "forgelet token revoke USER ID"'],
  [['token'], 'name an action'],
  [['token', 'create', 'alice', '--db', ':memory:'], '--db :memory: has no users'],
  [['token', 'create', 'alice', '--name', 'x'.repeat(256)], '--name: give at most 255 characters'],
  [['token', 'list', 'alice', '--name', 'x'], 'unknown option --name'],
  [['doctor', 'now'], 'unexpected argument "now"'],
  [['doctor', '--db', ':memory:'], '--db :memory: is empty'],
  [['token', 'list', 'alice', '--prefix', 'No Prefix'], 'prefix must be 1 to 31 lower-case letters'],
  [['doctor', '--prefix', 'No Prefix'], 'prefix must be 1 to 31 lower-case letters'],
  [['doctor', '--db', 'postgres://', '--schema', 'no schema'], 'schema must be 1 to 63 letters'],
  [['token', 'list', 'alice', '--db', 'mysql://db.example.com'], 'names no database'],
  [['doctor', '--db', 'mysql://db.example.com'], 'names no database'],
])('wrong usage is refused: %j', async (args, line) => {
  const { code, err } = await runCommand(await newFolder(), args)
  expect([code, err]).toEqual([2, expect.stringContaining(line)])
})

test('a file that does not exist is not created', async () => {
  const folder = await newFolder()
  for (const args of [['token', 'list', 'alice'], ['doctor']]) {
    const { code, err } = await runCommand(folder, [...args, '--db', 'missing.sqlite'])
    expect([code, err]).toEqual([3, expect.stringContaining('the file does not exist')])
  }
  expect(existsSync(join(folder, 'missing.sqlite'))).toBe(false)
})

test('the tokens of a database of an earlier version stay valid', async () => {
  const folder = await newFolder()
  const first = await startServe(folder, ['--db', 'forge.sqlite', '--fixture', 'world.json'])
  await first.stop()
  const db = new Database(join(folder, 'forge.sqlite'))
  db.exec('alter table host_tokens drop column name; alter table host_tokens drop column created_at')
  db.exec('alter table host_milestones drop column offsets')
  db.exec('update host_schema set version = 3')
  db.close()
  expect(await runCommand(folder, ['doctor', '--db', 'forge.sqlite'])).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^tables of the server +outdated +start "forgelet serve" of this release/m),
  })

  const running = await startServe(folder, ['--db', 'forge.sqlite'])
  onTestFinished(async () => void (await running.stop('SIGKILL')))
  const headers = { authorization: 'token alice-token' }
  expect((await fetch(`${running.url}/admin/users/sam/badges`, { headers })).status).toBe(200)
})

describe('forgelet doctor', () => {
  test('finds nothing to do in a database that is set up', async () => {
    const folder = await newFolder()
    const first = await startServe(folder, ['--db', 'forge.sqlite'])
    await first.stop()
    const { code, out } = await runCommand(folder, ['doctor', '--db', 'forge.sqlite'])
    expect([code, out]).toEqual([0, expect.stringMatching(/^tables of the server +current +-$/m)])
    const json = await runCommand(folder, ['doctor', '--db', 'forge.sqlite', '--json'])
    expect(JSON.parse(json.out)).toEqual({
      db: 'forge.sqlite',
      findings: [
        { check: 'tables of the forge', found: 'current', advice: null },
        { check: 'tables of the server', found: 'current', advice: null },
        { check: 'version', found: expect.stringMatching(/^3\./), advice: null },
        { check: 'journal_mode', found: expect.any(String), advice: null },
        { check: 'quick_check', found: 'ok', advice: null },
      ],
    })
  })

  test.each([
    ['a missing column of the server', 'alter table host_tokens drop column name', 'tables of the server +drifted'],
    ['a missing view of the forge', 'drop view forgelet_pins', 'tables of the forge +drifted'],
    ['a missing index of the server', 'drop index host_issues_open', 'tables of the server +drifted'],
    [
      'tables of a newer release',
      'update host_schema set version = 99, oldest_library = 99',
      'tables of the server +too-new',
    ],
  ])('finds %s', async (_, sql, line) => {
    const folder = await newFolder()
    const first = await startServe(folder, ['--db', 'forge.sqlite'])
    await first.stop()
    const db = new Database(join(folder, 'forge.sqlite'))
    db.exec(sql)
    db.close()
    const { code, out } = await runCommand(folder, ['doctor', '--db', 'forge.sqlite'])
    expect([code, out]).toEqual([1, expect.stringMatching(new RegExp(`^${line} +\\w`, 'm'))])
  })
})
