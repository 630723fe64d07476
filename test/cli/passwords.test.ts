import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { newFolder, runForgelet, startForgeletProcess } from '../start-forgelet.ts'

let folder: string

beforeEach(async () => {
  folder = await newFolder()
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
  'to postgres://u:secret@db.example.com/forge',
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

describe.each(['serve', 'schema plan'])('forgelet %s shows no password', (command) => {
  test.each([...ADDRESSES, ...BROKEN_URLS])('of --db or FORGELET_DB %j', async (address) => {
    const words = command.split(' ')
    for (const [name, ended] of [
      ['--db', await printed([...words, `--db=${address}`])],
      ['FORGELET_DB', await printed(words, address)],
    ] as const) {
      expect(ended).toEqual({ code: 2, text: expect.stringMatching(`^forgelet: ${name}( \\w+://)?: [^\n]+$`) })
      expect(ended.text).not.toMatch(/secret|db\.example/)
    }
  })
})

const URL_WITH_PASSWORD = 'postgres://u:secret@db.example.com/forge'

test.each([
  ['an argument', ['serve', URL_WITH_PASSWORD]],
  ['the command', [URL_WITH_PASSWORD]],
  ['the value of another option', ['serve', '--port', URL_WITH_PASSWORD]],
  ['the name of a file', ['serve', '--fixture', URL_WITH_PASSWORD]],
  ['an argument after --', ['token', 'revoke', '--', '--db', URL_WITH_PASSWORD]],
  ['an option', ['serve', `--${URL_WITH_PASSWORD}`]],
  ['the value of an option that does not exist', ['serve', `--bd=${URL_WITH_PASSWORD}`]],
  ['the value of a short option', ['serve', `-d=${URL_WITH_PASSWORD}`]],
])('forgelet shows no password that was given in a wrong place: %s', async (_, args) => {
  for (const json of [[], ['--json']]) {
    const { text, code } = await printed([...args, ...json])
    expect([code, text]).toEqual([2, expect.stringContaining('looks like the address of a database')])
    expect(text).not.toContain('secret')
  }
})

test.each(['C:\\data\\me@example.com\\forge.sqlite', 'D:/me@example.com/forge.sqlite', 'me@example.com', 'a:b'])(
  'a file whose name merely has some of these signs can be named: %s',
  async (file) => {
    const { text, code } = await printed(['schema', 'plan', '--db', file])
    expect([code, text]).toEqual([0, expect.stringContaining('forgelet_ledger')])
  },
)

describe('FORGELET_DB', () => {
  test('names the database if --db does not', async () => {
    const { code } = await printed(['schema', 'apply'], join(folder, 'named.sqlite'))
    expect([code, await readdir(folder)]).toEqual([0, ['named.sqlite']])
    const { text } = await printed(['schema', 'plan', '--db', 'postgres://'], 'mysql://')
    expect(text).toMatch(/^begin;/)
  })

  test.each([' ', '\n'])('may come from a file with blanks around it: %j', async (blank) => {
    const file = join(folder, 'named.sqlite')
    await printed(['schema', 'apply'], file)
    expect(await printed(['schema', 'status'], `${blank}${file}${blank}`)).toEqual({ code: 0, text: 'current' })
    const { text } = await printed(['schema', 'plan'], `${blank}mysql://${blank}`)
    expect(text).toContain('engine = InnoDB')
  })

  test('counts as not set if it is empty, and as wrong if it is blank', async () => {
    expect(await printed(['schema', 'plan'], '')).toMatchObject({ code: 0 })
    const blank = { code: 2, text: 'forgelet: FORGELET_DB is blank: give a URL or a file' }
    expect(await printed(['schema', 'plan'], ' ')).toEqual(blank)
  })
})

test('a database file that forgelet serve creates is for its owner only, with its -wal and -shm', async () => {
  await startForgeletProcess(['--db', join(folder, 'forge.sqlite')])
  const names = (await readdir(folder)).filter((name) => name.includes('.sqlite')).sort()
  const modes = names.map(async (name) => `${name} ${((await stat(join(folder, name))).mode & 0o777).toString(8)}`)

  expect(await Promise.all(modes)).toEqual(['forge.sqlite 600', 'forge.sqlite-shm 600', 'forge.sqlite-wal 600'])
})
