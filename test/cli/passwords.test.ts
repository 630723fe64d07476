import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { runForgelet, startForgeletProcess } from '../start-forgelet.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-passwords-'))
  return () => rm(folder, { recursive: true })
})

/** Everything that a command line prints, and its exit code. */
async function printed(
  args: readonly string[],
  variable = '',
): Promise<{ readonly text: string; readonly code: number | null }> {
  const { code, out, err } = await runForgelet(args, { environment: { FORGELET_DB: variable } })
  return { text: (out + err).trimEnd(), code }
}

const ADDRESSES = [
  'oracle://u:secret@db.example.com/forge',
  ' postgres://u:secret@db.example.com/forge',
  '"postgres://u:secret@db.example.com/forge"',
  "'mysql://u:secret@db.example.com/forge'",
  'jdbc:postgresql://db.example.com/forge?user=u&password=secret',
  'DATABASE_URL=postgres://u:secret@db.example.com/forge',
  'postgres:u:secret@db.example.com/forge',
  'u:secret@tcp(127.0.0.1:3306)/forge',
  'host=db.example.com user=u password=secret dbname=forge',
  'Server=db.example.com;Uid=u;Pwd = secret;',
  'https://u:secret@db.example.com',
  'postgres\n://u:secret@db.example.com/forge',
] as const

/** Their password holds what ends the host of a URL, or what cannot be decoded. */
const BROKEN_URLS = [
  'postgres://u:se/secret@db.example.com/forge',
  'postgres://u:12/secret@db.example.com/forge',
  'postgres://u:12?secret@db.example.com/forge',
  'mysql://u:12#secret@db.example.com/forge',
  'mysql://u:se@cret/secret@db.example.com/forge',
  'postgres://u:%secret@db.example.com/forge',
] as const

const COMMANDS = ['serve', 'schema status', 'schema apply', 'schema plan'] as const

describe.each(COMMANDS)('forgelet %s shows no password', (command) => {
  test.each([...ADDRESSES, ...BROKEN_URLS])('of --db %j', async (address) => {
    const { text, code } = await printed([...command.split(' '), `--db=${address}`])
    expect([code, text]).toEqual([2, expect.stringMatching(/^forgelet: --db( \w+:\/\/)?: [^\n]+$/)])
    expect(text).not.toMatch(/secret|db\.example/)
  })

  test.each([...ADDRESSES, ...BROKEN_URLS])('of FORGELET_DB %j', async (address) => {
    const { text, code } = await printed(command.split(' '), address)
    expect([code, text]).toEqual([2, expect.stringMatching(/^forgelet: FORGELET_DB( \w+:\/\/)?: [^\n]+$/)])
    expect(text).not.toMatch(/secret|db\.example/)
  })
})

describe('forgelet shows no password that was given in a wrong place', () => {
  test.each([
    ['an argument of serve', ['serve']],
    ['an argument of schema', ['schema', 'status']],
    ['the command', []],
    ['the value of another option', ['serve', '--port']],
    ['the name of a file', ['serve', '--fixture']],
    ['the name of a column', ['schema', 'status', '--ids']],
    ['the name of the document', ['openapi', '-o']],
    ['an argument after --', ['token', 'revoke', '--', '--db']],
  ])('%s', async (_, words) => {
    for (const json of [[], ['--json']]) {
      const { text, code } = await printed([...words, 'postgres://u:secret@db.example.com/forge', ...json])
      expect([code, text]).toEqual([2, expect.stringContaining('looks like the address of a database')])
      expect(text).not.toContain('secret')
    }
  })

  test.each([
    '--postgres://u:secret@db.example.com/forge',
    '--bd=postgres://u:secret@db.example.com/forge',
    '-d=postgres://u:secret@db.example.com/forge',
  ])('the name of an option: %s', async (option) => {
    const { text, code } = await printed(['serve', option])
    expect([code, text]).toEqual([2, expect.stringContaining('looks like the address of a database')])
    expect(text).not.toContain('secret')
  })
})

describe('a file whose name merely has some of these signs', () => {
  test.each([
    'C:\\data\\me@example.com\\forge.sqlite',
    'D:/me@example.com/forge.sqlite',
    'me@example.com',
    'a:b',
    ':memory:',
  ])('can be named: %s', async (file) => {
    const { text, code } = await printed(['schema', 'plan', '--db', file])
    expect([code, text]).toEqual([0, expect.stringContaining('forgelet_ledger')])
  })
})

describe('FORGELET_DB', () => {
  test('names the database where --db does not', async () => {
    const { code } = await printed(['schema', 'apply'], join(folder, 'named.sqlite'))
    expect([code, await readdir(folder)]).toEqual([0, ['named.sqlite']])
  })

  test('gives way to --db', async () => {
    const { text, code } = await printed(['schema', 'plan', '--db', 'postgres://'], 'mysql://')
    expect([code, text.startsWith('begin;')]).toEqual([0, true])
  })

  test('counts as not set where it is empty, and as wrong where it is blank', async () => {
    expect(await printed(['schema', 'plan'], '')).toMatchObject({ code: 0 })
    expect(await printed(['schema', 'plan'], ' ')).toEqual({
      code: 2,
      text: 'forgelet: FORGELET_DB is blank: give a URL or a file',
    })
  })

  test.each(['serve', 'schema apply'])('is part of the help of %s', async (command) => {
    expect((await printed([...command.split(' '), '--help'])).text).toContain('FORGELET_DB')
  })
})

test('a database file that forgelet serve creates is for its owner only, with its -wal and -shm', async () => {
  await startForgeletProcess(['--db', join(folder, 'forge.sqlite')])
  const names = (await readdir(folder)).filter((name) => name.includes('.sqlite')).sort()
  const modes = names.map(async (name) => `${name} ${((await stat(join(folder, name))).mode & 0o777).toString(8)}`)

  expect(await Promise.all(modes)).toEqual(['forge.sqlite 600', 'forge.sqlite-shm 600', 'forge.sqlite-wal 600'])
})
