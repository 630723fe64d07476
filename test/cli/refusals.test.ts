import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWith } from '../programs.ts'
import { runCommand, runInProcess } from './command.ts'
import { RefusalFolder } from './refusal-folder.ts'
import { database, fixture, REFUSED, WRONG_USAGE } from './refused-commands.ts'

// Whatever is refused: one line on stderr, and one for each mistake of a fixture, nothing on stdout, no file touched. In this process;
// one refusal of each kind also in a real child process of dist/cli.js, which must end, and all of them in refusals.long.test.ts.

const ONE_OF_EACH_KIND = [
  'several mistakes',
  'an invalid key',
  'an occupied port',
  'a server that is not there',
  'a MariaDB that is not there',
  'a newer schema: newer.sqlite',
  'a database of another program: ledger',
  'what is not a database',
]

let folder: RefusalFolder

beforeAll(async () => {
  folder = await RefusalFolder.create()
})

afterAll(() => folder.end())

describe('forgelet refuses', () => {
  test.each([...REFUSED, ...WRONG_USAGE].map((refusal) => [refusal[0], refusal] as const))('%s', async (_, refusal) => {
    await folder.expectRefusal(refusal, runInProcess)
  })

  test.each(ONE_OF_EACH_KIND)('%s, and the process ends', async (title) => {
    const [refusal] = REFUSED.filter(([other]) => other === title)
    if (refusal === undefined) throw new TypeError(`nothing is refused as "${title}"`)
    await folder.expectRefusal(refusal, runCommand)
  })

  test('with the first 100 mistakes of a fixture, and how many more there are', async () => {
    const fields = Array.from({ length: 103 }, (_, at) => [`field-${at}`, at])
    await writeFile(join(folder.path, 'very-many.json'), JSON.stringify(Object.fromEntries(fields)))
    const lines = (await runInProcess(folder.path, fixture('very-many.json'))).err.split('\n')
    await rm(join(folder.path, 'very-many.json'))
    expect([lines.length, lines[0]]).toEqual([103, 'forgelet: fixture very-many.json has 103 mistakes'])
    expect(lines.slice(100)).toEqual([
      '  /field-99: unknown field: remove it or correct its name',
      '  and 3 more; --json lists all of them',
      '',
    ])
  })

  test('without letting a fixture write control characters to the terminal', async () => {
    await writeFile(join(folder.path, 'escapes.json'), JSON.stringify({ '\u001b[2J\u0000': 1 }))
    const { err } = await runInProcess(folder.path, fixture('escapes.json'))
    await rm(join(folder.path, 'escapes.json'))
    expect(err).toContain('  /\\u001b[2J\\u0000: unknown field')
  })

  test('with every mistake of a fixture as one JSON line', async () => {
    const { code, out, err } = await runInProcess(folder.path, [...fixture('many.json'), '--json'])
    expect([code, out, err.split('\n').length]).toEqual([1, '', 2])
    expect(JSON.parse(err)).toMatchObject({
      error: {
        exitCode: 1,
        violations: [{ pointer: '/a' }, { pointer: '/b' }, { pointer: '/c', code: 'unknown_field' }],
      },
    })
  })

  test('without revealing a password', async () => {
    for (const url of ['postgres://u:secret@127.0.0.1:1/forge', 'mysql://u:secret@127.0.0.1:1/forge']) {
      const { err } = await runInProcess(folder.path, database(url))
      expect(err).toContain('127.0.0.1:1/forge cannot be used')
      expect(err).not.toContain('secret')
    }
  })
})

describeWith(['mkfifo'], 'forgelet refuses a pipe', () => {
  test('as database, without waiting for a writer', async () => {
    const pipes = await mkdtemp(join(tmpdir(), 'forgelet-pipes-'))
    execFileSync('mkfifo', [join(pipes, 'pipe')])
    const { code, err } = await runCommand(pipes, database('pipe'))
    await rm(pipes, { recursive: true })
    expect([code, err]).toEqual([
      3,
      'forgelet: database pipe cannot be used: it is a pipe or a device: name an ordinary file\n',
    ])
  })
})
