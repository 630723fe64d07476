import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createForge } from '../../src/index.ts'
import { openStandalone } from '../../src/standalone/standalone.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { describeWith } from '../programs.ts'
import { runCommand, runInProcess } from './command.ts'

// Whatever is refused: one line on stderr, and one for each mistake of a fixture, nothing on stdout, no file touched. Wrong usage
// is refused in this process; what begins to serve, in real child processes of dist/cli.js, which must also end.

let folder: string
const occupied = createServer()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-refusals-'))
  await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve))
  const world = { users: [{ username: 'alice' }] }
  const files = {
    'world.json': JSON.stringify(world),
    'unknown-field.json': JSON.stringify({ users: [{ username: 'alice', nick: 'al' }] }),
    'dangling.json': JSON.stringify({ ...world, organizations: [{ name: 'acme', owners: ['bob'] }] }),
    'many.json': JSON.stringify({ a: 1, b: 2, c: 3 }),
    'pins.json': JSON.stringify({
      ...world,
      repositories: [{ owner: 'alice', name: 'x', issues: [{ index: 1, title: 'x', poster: 'alice' }], pins: [1] }],
    }),
    'broken.json': '{ "users": [\n\n oops',
    'broken.yaml': 'users:\n  - username: [alice\n',
    'twice.json': '{ "users": [{ "username": "a", "username": "b" }] }',
    'twice-escaped.json': '{ "users": [], "us\\u0065rs": [] }',
    'trailing.json': '{ "users": [] } oops',
    'unsafe.json': `{"users":[{"username":"a"}],"repositories":[{"owner":"a","name":"x","issues":[{"index":1e300,"title":"x","poster":"a"}]}]}`,
    'bad-key.json': JSON.stringify({ ...world, signingKey: { file: 'nowhere.asc' } }),
    'no-key.asc': 'this is not a key',
    'no-database.sqlite':
      'this is not a database, and it is longer than the header of one would be: a hundred bytes or more.',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  await mkdir(join(folder, 'a-folder'))
  foreign('foreign-accounts.sqlite', 'create table host_accounts (id integer, note text)')
  foreign('foreign-schema.sqlite', 'create table host_schema (entry text)')
  foreign('foreign-pins.sqlite', 'pragma journal_mode = wal; create table Forgelet_pins (pin text)')
  foreign('foreign-ledger.sqlite', 'create view forgelet_ledger as select 1 as version')
  await application('application.sqlite')
  await newer('half.sqlite', 'pragma foreign_keys = off; drop table host_accounts')
  await newer('newer.sqlite', 'update forgelet_ledger set version = 9999, oldest_library = 9999')
  await newer('newer-host.sqlite', 'update host_schema set version = 9999, oldest_library = 9999')
})

afterAll(async () => {
  occupied.close()
  await rm(folder, { recursive: true })
})

async function newer(name: string, sql: string): Promise<void> {
  const host = await openStandalone({ db: join(folder, name) })
  await host.close()
  const database = new Database(join(folder, name))
  database.exec(sql)
  database.close()
}

/** A database of another program. */
function foreign(name: string, sql: string): void {
  const database = new Database(join(folder, name))
  database.exec(sql)
  database.close()
}

/** A database with the forge of an application, and a badge that the application's user 1 holds. */
async function application(name: string): Promise<void> {
  const storage = sqliteStorage(join(folder, name))
  await storage.migrate()
  const forge = createForge({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
  })
  await forge.badges.catalogue.define('system', { slug: 'owl', description: '', imageUrl: '' })
  await forge.badges.grant('system', { userId: '1', slugs: ['owl'] })
  await forge.close()
}

/** Name and content of every file. */
async function everything(): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return Promise.all(
    entries.map(async (entry) => {
      const content = entry.isFile() ? await readFile(join(folder, entry.name)) : ''
      return `${entry.name} ${createHash('sha256').update(content).digest('hex')}`
    }),
  )
}

const fixture = (name: string): readonly string[] => ['serve', '--port', '0', '--fixture', name]
const database = (name: string): readonly string[] => ['serve', '--port', '0', '--db', name]

type Refusal = readonly [title: string, args: readonly string[] | (() => readonly string[]), code: number, line: string]

const REFUSED: readonly Refusal[] = [
  [
    'an unknown fixture field',
    fixture('unknown-field.json'),
    1,
    'fixture unknown-field.json has 1 mistake\n  /users/0/nick: unknown field: remove it or correct its name\n',
  ],
  [
    'a dangling name',
    fixture('dangling.json'),
    1,
    'fixture dangling.json has 1 mistake\n  /organizations/0/owners/0: "bob" is not one of the users: add it there or correct the name',
  ],
  [
    'several mistakes',
    fixture('many.json'),
    1,
    `fixture many.json has 3 mistakes\n${['/a', '/b', '/c'].map((pointer) => `  ${pointer}: unknown field: remove it or correct its name\n`).join('')}`,
  ],
  [
    'more pins than the limit',
    [...fixture('pins.json'), '--max-pins', '0'],
    1,
    'fixture pins.json has 1 mistake\n  /repositories/0/pins/0: at most 0 issues can be pinned',
  ],
  [
    'a fixture that is not there',
    fixture('nowhere.json'),
    1,
    'fixture nowhere.json cannot be read: the file does not exist',
  ],
  ['a folder as fixture', fixture('a-folder'), 1, 'fixture a-folder cannot be read: it is a directory'],
  ['a fixture that is not JSON', fixture('broken.json'), 1, 'fixture broken.json is not valid JSON: '],
  ['a fixture that is not YAML', fixture('broken.yaml'), 1, 'fixture broken.yaml is not valid YAML: '],
  [
    'a key of a fixture that is there twice',
    fixture('twice.json'),
    1,
    'fixture twice.json is not valid JSON: Map keys must be unique at line 1, column 32',
  ],
  ['a key twice, once in escapes', fixture('twice-escaped.json'), 1, 'is not valid JSON: Map keys must be unique'],
  ['a fixture with something after it', fixture('trailing.json'), 1, 'fixture trailing.json is not valid JSON: '],
  [
    'a number that JSON cannot keep',
    fixture('unsafe.json'),
    1,
    'fixture unsafe.json has 1 mistake\n  /repositories/0/issues/0/index: must be at most 9007199254740991\n',
  ],
  ["a fixture's key that is not there", fixture('bad-key.json'), 1, 'nowhere.asc'],
  ['a key that is not there', ['serve', '--signing-key', 'nowhere.asc'], 1, 'signing key nowhere.asc: '],
  ['an invalid key', ['serve', '--signing-key', 'no-key.asc'], 1, 'signing key no-key.asc: '],
  [
    'an occupied port',
    () => ['serve', '--port', String((occupied.address() as AddressInfo).port)],
    2,
    'is in use: stop the other program, or choose another with --port',
  ],
  [
    'a host that is not an address of this machine',
    ['serve', '--port', '0', '--host', '203.0.113.7'],
    2,
    '--host 203.0.113.7: cannot listen there',
  ],
  [
    'a server that is not there',
    database('postgres://u:secret@127.0.0.1:1/forge'),
    3,
    'database postgres://127.0.0.1:1/forge cannot be used: the server refuses connections: check that it runs, and the host and the port (ECONNREFUSED)\n',
  ],
  [
    'a MariaDB that is not there',
    database('mysql://u:secret@127.0.0.1:1/forge'),
    3,
    'database mysql://127.0.0.1:1/forge cannot be used: the server refuses connections: check that it runs, and the host and the port (ECONNREFUSED)\n',
  ],
  [
    'a URL without a database',
    database('mysql://u:secret@127.0.0.1:1'),
    2,
    'the URL mysql://127.0.0.1:1 names no database: write mysql://user@host/database\n',
  ],
  ...['newer.sqlite', 'newer-host.sqlite'].map(
    (name) =>
      [
        `a newer schema: ${name}`,
        database(name),
        3,
        `database ${name} cannot be used: its tables have version 9999, newer than this release supports: install a newer forgelet, or name another file with --db\n`,
      ] as const,
  ),
  ...['accounts', 'schema', 'pins', 'ledger'].map(
    (name) =>
      [
        `a database of another program: ${name}`,
        database(`foreign-${name}.sqlite`),
        3,
        `database foreign-${name}.sqlite cannot be used: it holds tables of another program: name another file\n`,
      ] as const,
  ),
  [
    'a database with the forge of an application',
    [...database('application.sqlite'), '--fixture', 'world.json'],
    3,
    "database application.sqlite cannot be used: it holds the forge of an application and none of this server's tables: name another file\n",
  ],
  [
    'a database that lost a table',
    [...database('half.sqlite'), '--fixture', 'world.json'],
    3,
    'database half.sqlite cannot be used: the database failed: no such table: host_accounts\n',
  ],
  [
    'what is not a database',
    database('no-database.sqlite'),
    3,
    'database no-database.sqlite cannot be used: it is not an SQLite database: name another file',
  ],
  [
    'a folder as database',
    database('a-folder'),
    3,
    'database a-folder cannot be used: it is a directory: name a file in it',
  ],
  [
    'a device as database',
    database('/dev/null'),
    3,
    'database /dev/null cannot be used: it is a pipe or a device: name an ordinary file',
  ],
  [
    'a database in no folder',
    database('nowhere/forge.sqlite'),
    3,
    'database nowhere/forge.sqlite cannot be used: its directory does not exist',
  ],
]

const WRONG_USAGE: readonly Refusal[] = [
  ['a negative port', ['serve', '--port', '-1'], 2, '--port -1: give an integer from 0 to 65535'],
  ['a port too high', ['serve', '--port=65536'], 2, '--port 65536: give an integer from 0 to 65535'],
  ['a port that is a word', ['serve', '--port', 'http'], 2, '--port http: give an integer'],
  ['half a pin', ['serve', '--max-pins', '1.5'], 2, '--max-pins 1.5: give an integer from 0 to 1000'],
  ['too many pins', ['serve', '--max-pins', '1001'], 2, '--max-pins 1001: give an integer from 0 to 1000'],
  ['an invalid public URL', ['serve', '--public-url', 'example.com'], 2, '--public-url: give an http or https address'],
  ['a public address of another kind', ['serve', '--public-url', 'ftp://example.com'], 2, '--public-url: give an http'],
  [
    'a public address with a password',
    ['serve', '--public-url', 'https://a:b@example.com'],
    2,
    '--public-url: give an http',
  ],
  [
    'an unknown option',
    ['serve', '--prot', '3000'],
    2,
    'unknown option --prot: "forgelet serve --help" lists the options',
  ],
  ['an unknown letter', ['serve', '-x'], 2, 'unknown option -x'],
  ['an option without its value', ['serve', '--db'], 2, '--db needs a value'],
  ['an option in the place of a value', ['serve', '--db', '--port', '0'], 2, '--db needs a value'],
  ['an empty value', ['serve', '--db='], 2, '--db needs a value'],
  ['a value that is not taken', ['serve', '--help=no'], 2, '--help takes no value'],
  ['a blank database', ['serve', '--db', ' \t'], 2, '--db is blank: give a URL or a file'],
  [
    'an unknown command',
    ['server'],
    2,
    'unknown command "server": the commands are "serve", "schema", "issues", "token", "doctor" and "openapi"',
  ],
  ['no command', [], 2, 'no command given: try "forgelet serve"'],
  ['a word too many for openapi', ['openapi', 'openapi.json'], 2, 'unexpected argument "openapi.json": name the file'],
  [
    'a folder in the place of a file',
    ['openapi', '-o', 'a-folder'],
    2,
    '--out a-folder cannot be written: it is a directory',
  ],
  [
    'a file in no folder',
    ['openapi', '--out', 'no/x.json'],
    2,
    '--out no/x.json cannot be written: the directory does not exist',
  ],
  ['an option of another command', ['openapi', '--port', '0'], 2, 'unknown option --port: "forgelet openapi --help"'],
  ['an invalid public URL of a document', ['openapi', '--public-url', 'x'], 2, '--public-url: give an http'],
  ['a word too many', ['serve', 'fixture.json'], 2, 'unexpected argument "fixture.json"'],
  [
    'a database of another kind',
    database('oracle://u:secret@db.example.com/forge'),
    2,
    '--db oracle://: give a postgres:// or mysql:// URL, or an SQLite file',
  ],
  [
    'a schema in a file',
    [...database('new.sqlite'), '--schema', 'forge'],
    2,
    '--schema is for PostgreSQL: leave it out, or give a postgres:// URL with --db',
  ],
  [
    'an invalid prefix',
    [...database('new.sqlite'), '--prefix', 'Forge'],
    2,
    'prefix must be 1 to 31 lower-case letters',
  ],
  [
    'an invalid schema',
    [...database('postgres://u:secret@db.example.com/forge'), '--schema', 'a-b'],
    2,
    'schema must be 1 to 63 letters',
  ],
]

describe('forgelet refuses', () => {
  test.each([
    ...REFUSED.map((refusal) => [...refusal, runCommand] as const),
    ...WRONG_USAGE.map((refusal) => [...refusal, runInProcess] as const),
  ])('%s', async (_, args, code, line, run) => {
    const before = await everything()
    const ended = await run(folder, typeof args === 'function' ? args() : args)
    expect(ended).toEqual({ code, out: '', err: expect.stringMatching(/^forgelet: [^\n]+\n( {2}[^\n]+\n)*$/) })
    expect(ended.err).toContain(line)
    expect(await everything()).toEqual(before)
  })

  test('with the first 100 mistakes of a fixture, and how many more there are', async () => {
    const fields = Array.from({ length: 103 }, (_, at) => [`field-${at}`, at])
    await writeFile(join(folder, 'very-many.json'), JSON.stringify(Object.fromEntries(fields)))
    const lines = (await runCommand(folder, fixture('very-many.json'))).err.split('\n')
    await rm(join(folder, 'very-many.json'))
    expect([lines.length, lines[0]]).toEqual([103, 'forgelet: fixture very-many.json has 103 mistakes'])
    expect(lines.slice(100)).toEqual([
      '  /field-99: unknown field: remove it or correct its name',
      '  and 3 more; --json lists all of them',
      '',
    ])
  })

  test('without letting a fixture write control characters to the terminal', async () => {
    await writeFile(join(folder, 'escapes.json'), JSON.stringify({ '\u001b[2J\u0000': 1 }))
    const { err } = await runCommand(folder, fixture('escapes.json'))
    await rm(join(folder, 'escapes.json'))
    expect(err).toContain('  /\\u001b[2J\\u0000: unknown field')
  })

  test('with every mistake of a fixture as one JSON line', async () => {
    const { code, out, err } = await runCommand(folder, [...fixture('many.json'), '--json'])
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
      const { err } = await runCommand(folder, database(url))
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
