import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { serve } from '../http.ts'
import { describeWith } from '../programs.ts'
import { bareIssue } from '../schema/documents/sample-issue.ts'
import { newFolder, runForgelet, runForgeletProcess } from '../start-forgelet.ts'

// Every command line that is refused: one line on stderr, and one for each mistake of a file; nothing on stdout, no file touched.

const WORLD = { users: [{ username: 'alice' }] }
const ISSUE = { index: 1, title: 'x', poster: 'alice' }
const FILES = {
  'world.json': JSON.stringify(WORLD),
  'unknown-field.json': JSON.stringify({ users: [{ username: 'alice', nick: 'al' }] }),
  'many.json': JSON.stringify(Object.fromEntries(Array.from({ length: 103 }, (_, at) => [`field-${at}`, at]))),
  'escapes.json': JSON.stringify({ '\u001b[2J\u0000': 1 }),
  'pins.json': JSON.stringify({
    ...WORLD,
    repositories: [{ owner: 'alice', name: 'x', issues: [ISSUE], pins: [1] }],
  }),
  'broken.json': '{ "users": [\n\n oops',
  'broken-token.json': '{ "users": [{ "username": "a", "tokens": ["secret" secret',
  'broken-alias.yaml': 'users:\n  - username: *secret\n',
  'broken-tag.yaml': 'users:\n  - tokens: !secret [a]\n',
  'broken.yaml': 'users:\n  - username: [alice\n',
  'twice.json': '{ "users": [{ "username": "a", "username": "b" }] }',
  'trailing.json': '{ "users": [] } oops',
  'yaml.json': 'users:\n  - username: secret\n',
  'latin1.json': Buffer.from('{ "users": [\n  { "username": "mia", "fullName": "secr\xe9t" }] }', 'latin1'),
  'latin1.yaml': Buffer.from('users:\n  - username: mia # \xe9\n', 'latin1'),
  'utf16.json': Buffer.from('\ufeff{ "users": [] }', 'utf16le'),
  'bad-key.json': JSON.stringify({ ...WORLD, signingKey: { file: 'nowhere.asc' } }),
  'no-key.asc': 'this is not a key, but a secret',
  'damaged.key': '-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n-----END OPENSSH PRIVATE KEY-----\n',
  'no-database.sqlite': 'this is not a database, and it is longer than the header of one would be: a hundred bytes.',
  'issues.json': JSON.stringify([bareIssue]),
  'number.json': '5',
  'user.json': '{ "user": {} }',
  'nameless.json': '{ "users": { "name": "login" } }',
  'a-folder/notes.txt': '',
}

/** A command line, and what is said. */
type Refusal = readonly [command: string, text: string]

/** Parses a table of them: the lines of a refusal after its first are indented. */
function refusals(table: string): readonly Refusal[] {
  const entries = table.split(/\n(?! )/).filter((entry) => entry !== '')
  return entries.map((entry) => {
    const [command = '', text = ''] = entry.split(/ ?=> /)
    return [command, text]
  })
}

/** What is refused because of what a file has: exit code 1. */
const INVALID = refusals(`
serve --fixture unknown-field.json => fixture unknown-field.json has 1 mistake
  /users/0/nick: unknown field: remove it or correct its name
serve --fixture many.json => fixture many.json has 103 mistakes
  /field-0: unknown field: remove it or correct its name
serve --fixture many.json =>   /field-99: unknown field: remove it or correct its name
  and 3 more; --json lists all of them
serve --fixture escapes.json =>   /\\u001b[2J\\u0000: unknown field
serve --fixture pins.json --max-pins 0 => fixture pins.json has 1 mistake
  /repositories/0/pins/0: at most 0 issues can be pinned
serve --fixture nowhere.json => fixture nowhere.json cannot be read: the file does not exist
serve --fixture a-folder => fixture a-folder cannot be read: it is a directory
serve --fixture broken.json => fixture broken.json is not valid: expected JSON (3:2)
serve --fixture yaml.json => fixture yaml.json is not valid: expected JSON (1:1)
serve --fixture latin1.json => fixture latin1.json is not valid: expected UTF-8 (2:41)
serve --fixture latin1.yaml => fixture latin1.yaml is not valid: expected UTF-8 (2:21)
serve --fixture utf16.json => fixture utf16.json is not valid: expected UTF-8 (1:1)
issues import issues.json --repo acme/rocket --db ours.sqlite --users latin1.yaml => users latin1.yaml is not valid: expected UTF-8 (2:21)
schema plan --tables latin1.json => --tables latin1.json is not valid: expected UTF-8 (2:41)
serve --fixture broken.yaml => fixture broken.yaml is not valid: deficient indentation (3:1)
serve --fixture broken-token.json => fixture broken-token.json is not valid: expected JSON (1:52)
serve --fixture broken-alias.yaml => fixture broken-alias.yaml is not valid: wrong syntax (2:16)
serve --fixture broken-tag.yaml => fixture broken-tag.yaml is not valid: wrong syntax (2:13)
serve --fixture twice.json => fixture twice.json is not valid: duplicated mapping key (1:33)
serve --fixture trailing.json => fixture trailing.json is not valid: expected JSON (1:17)
serve --fixture bad-key.json => nowhere.asc
serve --signing-key nowhere.asc => signing key nowhere.asc:
serve --signing-key no-key.asc => signing key no-key.asc:
serve --signing-key damaged.key => signing key damaged.key:
issues import issues.json --repo acme/none --db ours.sqlite => has no repository acme/none
issues export --repo acme/none --db ours.sqlite => has no repository acme/none
`)

/** Wrong usage: exit code 2. */
const WRONG = refusals(`
=> name a command: serve, schema, issues, user, org, repo, token, keys, doctor, copy, openapi; see "forgelet --help"
server => unknown command 'server' (Did you mean serve?); see "forgelet --help"
schema => name a command: status, plan, apply; see "forgelet schema --help"
schema drop => unknown command 'drop'; see "forgelet schema --help"
serve --prot 3000 => unknown option '--prot' (Did you mean --port?); see "forgelet serve --help"
serve fixture.json => Expected 0 arguments but got 1
serve --db => option '--db <url|file>' argument missing
serve --db --log-requests => --db is blank: give a URL or a file
serve --db= => --db is blank: give a URL or a file
serve --port -1 => argument '-1' is invalid. Give an integer from 0 to 65535; see "forgelet serve --help"
serve --port=65536 => Give an integer from 0 to 65535
serve --port http => Give an integer from 0 to 65535
serve --max-pins 1.5 => Give an integer from 0 to 1000
serve --host= => --host is blank: give an address such as 127.0.0.1
serve --host 203.0.113.7 => --host 203.0.113.7: cannot listen there
serve --public-url example.com => --public-url: give an http or https address
serve --cors * => --cors: give an origin in lower case, without a path
serve --cors https://App.example.com => --cors: give an origin
serve --cors https://a:secret@app.example.com => --cors: give an origin
serve --public-url https://a:secret@example.com => --public-url: give an http
serve --db mysql://u:secret@127.0.0.1:1 => the URL must name a database: mysql://server/database
serve --db mysql://u:secret@127.0.0.1:1/x?ssl-mode=REQUIRED => mysql2 reads no parameter "ssl-mode" from the URL of the database
serve --db mysql://u:secret@127.0.0.1:1/x?ssl=true => mysql2 refuses the URL of the database: SSL profile must be an object
serve --db postgres://u:secret@127.0.0.1:1/x?sslrootcert=/no.pem => the file of sslrootcert in the URL of the database cannot be
serve --db file:x.sqlite => --db: give a postgres:// or mysql:// URL, or an SQLite file
serve --db postgres:forge => --db: give a postgres:// or mysql:// URL, or an SQLite file
serve --db new.sqlite --schema forge => --schema is for PostgreSQL: leave it out, or give a postgres:// URL with --db
serve --db new.sqlite --prefix Forge => prefix must be 1 to 31 lower-case letters
serve --db postgres://u:secret@db.example.com/forge --schema a-b => schema must be 1 to 63 letters

openapi --port 0 => unknown option '--port'

schema status --db :memory: => --db :memory: is empty: give a file, or a URL
doctor --db postgres://127.0.0.1:1/forge --full => --full is for SQLite: leave it out
schema apply --db ours.sqlite --ids user=uuid => the database stores 
schema plan --db postgres:// --schema a.b => schema must be
schema plan --schema a => --schema is for PostgreSQL
schema plan --tables number.json => --tables number.json: write an object such as
schema plan --tables user.json => did you mean tables.users?
schema plan --tables nameless.json => tables.users.table
schema plan --ids badge=uuid => --ids badge=uuid: write a list such as
schema plan --ids user=int => --ids user=int: write a list such as
schema plan --ids user => --ids user: write a list such as

copy --from ours.sqlite => --to is blank
copy --from ours.sqlite --to :memory: => --to :memory: would be lost
copy --from :memory: --to x => --from :memory: is empty
copy --from ours.sqlite --to x --to-schema y => --to-schema is for PostgreSQL
copy --from ours.sqlite --to oracle://u:secret@h/d => --to oracle://: give a postgres:// or mysql:// URL
copy --to x postgres://u:secret@h/d => an argument looks like the address of a database

token create => missing required argument 'user'
token list alice sam => Expected 1 argument but got 2

issues validate nowhere.json => nowhere.json cannot be read: the file does not exist
issues validate - --max-unpacked-bytes 10GB => --max-unpacked-bytes 10GB: give a number of bytes, such as 50000000000
issues validate - --from jira => Allowed choices are document, github, github-cli, github-archive, github-backup, gitlab, gitlab-rest, gitea, gitea-dump, bitbucket, redmine
issues validate - --from postgres://u:secret@h/d => an argument looks like the address of a database
issues validate - --confidential drop => 'drop' is invalid. Allowed choices are keep
issues convert - => required option '-o, --out <out>' not specified
issues convert - -o x --to github => 'github' is invalid. Allowed choices are document, gitea-dump, csv
issues convert - -o - --to gitea-dump => a dump is a folder
issues convert - -o x --to gitea-dump => --to gitea-dump needs --repo
issues convert - -o x --repo acme/rocket => --repo is for --to gitea-dump
issues convert - -o x --original-url https://git.example.com/acme/rocket => --original-url is for --to gitea-dump
issues convert - -o x --to gitea-dump --repo rocket => argument 'rocket' is invalid. Give the owner and the name, such as acme/rocket
issues convert - -o x --to gitea-dump --repo acme/rocket/x => option '--repo <owner/name>' argument 'acme/rocket/x' is invalid. Give the owner
issues convert issues.json -o a-folder => --out a-folder cannot be written: it is a directory
issues convert issues.json -o no/x.json => --out no/x.json cannot be written: the directory does not exist
issues convert issues.json -o a-folder --to gitea-dump --repo a/b => --out a-folder cannot be written: the folder is not
issues import none.json --repo acme/rocket --db ours.sqlite => cannot be read: the file does not exist
issues import x --repo acme/rocket --on-conflict=merge => Allowed choices are refuse, skip, update
issues import x --repo acme/rocket --attribution=mail => Allowed choices are names, accounts
issues import issues.json --repo a/b --db ours.sqlite --users=none.json => users none.json cannot be read
issues export => required option '--repo <owner/name>' not specified
`)

const NO_CONNECTION = 'the server cannot be reached (ECONNREFUSED): check that it runs, and the host and the port'
const FOREIGN = 'cannot be used: it holds tables of another program: name another database'

/** A database that cannot be used: exit code 3. */
const UNUSABLE = refusals(`
serve --db postgres://u:secret@127.0.0.1:1/forge => database postgres://127.0.0.1:1/forge cannot be used: ${NO_CONNECTION}
serve --db mysql://u:secret@127.0.0.1:1/forge => database mysql://127.0.0.1:1/forge cannot be used: ${NO_CONNECTION}
serve --db postgres://u:secret@127.0.0.1:3306/forge => ; 3306 is usually the port of a mysql:// URL
serve --db postgres://u:secret@/forge?host=/nowhere => database postgres:///forge cannot be used: the server cannot be reached (ENOENT)
schema status --db postgresql://u:secret@/forge?host=/nowhere => database postgresql:///forge cannot be used: the server cannot
issues export --repo acme/rocket --db postgres://u:secret@127.0.0.1:1/forge => cannot be reached
doctor --db mysql://u:secret@127.0.0.1:1/forge => cannot be reached
serve --db newer.sqlite => its tables are for newer releases only: install a newer forgelet
serve --db newer-host.sqlite => database newer-host.sqlite cannot be used: its tables are for newer releases only
serve --db foreign-accounts.sqlite => database foreign-accounts.sqlite ${FOREIGN}
serve --db foreign-schema.sqlite => database foreign-schema.sqlite ${FOREIGN}
serve --db foreign-labels.sqlite => database foreign-labels.sqlite ${FOREIGN}
serve --db foreign-pins.sqlite => database foreign-pins.sqlite ${FOREIGN}
serve --db foreign-index.sqlite => database foreign-index.sqlite ${FOREIGN}
serve --db foreign-ledger.sqlite => database foreign-ledger.sqlite ${FOREIGN}
serve --db foreign-ledger-view.sqlite => database foreign-ledger-view.sqlite ${FOREIGN}
serve --db application.sqlite --fixture world.json => it holds the forge of an application and none of this server's tables
serve --db half.sqlite --fixture world.json => a table, column or index of this server is missing: restore a copy of the database
serve --db no-database.sqlite => the file is not an SQLite database
serve --db a-folder => database a-folder cannot be used: it is a directory: name a file in it
serve --db /dev/null => database /dev/null cannot be used: it is a pipe or a device: name an ordinary file
serve --db world.json/forge.sqlite => the database file cannot be opened
serve --db nowhere/forge.sqlite => database nowhere/forge.sqlite cannot be used: its directory does not exist
schema status --db missing.sqlite => the file does not exist: correct the path, or run "forgelet serve", for an application
copy --from missing.sqlite --to x => the file does not exist
token list alice --db missing.sqlite => the file does not exist
issues export --repo a/b --db missing.sqlite => the file does not exist
issues import issues.json --repo a/b --db missing.sqlite => the file does not exist
`)

let folder: string

beforeAll(async () => {
  folder = await newFolder()
  await mkdir(join(folder, 'a-folder'))
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text)
  changed('foreign-accounts.sqlite', 'create table host_accounts (id integer, note text)')
  changed('foreign-schema.sqlite', 'create table host_ledger (entry text)')
  changed('foreign-pins.sqlite', 'pragma journal_mode = wal; create table Forgelet_pins (pin text)')
  changed('foreign-labels.sqlite', 'create view HOST_LABELS as select 1 as label')
  changed('foreign-index.sqlite', 'create table notes (text text); create index forgelet_notes on notes (text)')
  changed('foreign-ledger.sqlite', 'create table forgelet_ledger (entry text)')
  changed('foreign-ledger-view.sqlite', 'create view forgelet_ledger as select 1 as version')
  for (const [name, sql] of [
    ['ours.sqlite', ''],
    ['half.sqlite', 'pragma foreign_keys = off; drop table host_accounts'],
    ['newer.sqlite', 'update forgelet_ledger set version = 9999, oldest_library = 9999'],
    ['newer-host.sqlite', 'update host_ledger set version = 9999, oldest_library = 9999'],
  ] as const) {
    const repositories = [{ owner: 'acme', name: 'rocket' }]
    const fixture = { users: [{ username: 'acme' }], repositories }
    await (await openStandalone({ db: join(folder, name), fixture })).close()
    changed(name, sql)
  }
  const storage = sqliteStorage(join(folder, 'application.sqlite'))
  await storage.migrate()
  await storage.close()
})

function changed(name: string, sql: string): void {
  const database = new Database(join(folder, name))
  database.exec(sql)
  database.close()
}

/** Name and content of every file. */
async function everything(): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const hashes = files.map(async ({ name }) => {
    const content = await readFile(join(folder, name))
    return `${name} ${createHash('sha256').update(content).digest('hex')}`
  })
  return [...(await Promise.all(hashes)), ...(await readdir(join(folder, 'a-folder')))]
}

async function expectRefusal(run: typeof runForgelet, code: number, [command, text]: Refusal): Promise<void> {
  const words = command.split(' ').filter((word) => word !== '')
  const needsPort = words[0] === 'serve' && words.length > 2 && !command.includes('--port')
  const before = await everything()
  const ended = await run(needsPort ? [...words, '--port', '0'] : words, { folder })
  expect(ended).toEqual({ code, out: '', err: expect.stringMatching(/^forgelet: [^\n]+\n( {2}[^\n]+\n)*$/) })
  expect(ended.err).toContain(text)
  expect(ended.err).not.toContain('secret')
  expect(await everything()).toEqual(before)
}

describe.each([
  [1, 'what is invalid', INVALID],
  [2, 'wrong usage', WRONG],
  [3, 'a database that cannot be used', UNUSABLE],
] as const)('forgelet refuses with exit code %i %s:', (code, _, refused) => {
  test.each(refused)('%s', async (...refusal) => {
    await expectRefusal(runForgelet, code, refusal)
  })

  test('and its process ends', async () => {
    for (const refusal of refused.slice(0, 2)) await expectRefusal(runForgeletProcess, code, refusal)
  })
})

test('forgelet serve refuses a port that is in use', async () => {
  const port = await serve(() => undefined)
  const line = `port ${port} on 127.0.0.1 is in use: stop the other program, or choose another with --port\n`
  await expectRefusal(runForgelet, 2, [`serve --port ${port}`, line])
})

test('--json gives every mistake of a fixture in one line', async () => {
  const { code, out, err } = await runForgelet(['serve', '--fixture', 'many.json', '--json'], { folder })
  expect([code, out, err.split('\n').length]).toEqual([1, '', 2])
  const { error } = JSON.parse(err)
  expect(error).toMatchObject({ exitCode: 1, violations: expect.arrayContaining([expect.anything()]) })
  expect(error.violations).toHaveLength(103)
})

describeWith(['mkfifo'], 'forgelet refuses a pipe', () => {
  test('as database, without waiting for a writer', async () => {
    execFileSync('mkfifo', [join(folder, 'a-folder/pipe')])
    const line = 'database a-folder/pipe cannot be used: it is a pipe or a device: name an ordinary file\n'
    await expectRefusal(runForgeletProcess, 3, ['serve --db a-folder/pipe', line])
    await rm(join(folder, 'a-folder/pipe'))
  })
})
