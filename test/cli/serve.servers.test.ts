import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { onServer } from '../storage/databases/servers.ts'
import type { ServerKind, TestDatabase } from '../storage/sql/server/server-databases.ts'
import { MARIADB, newDatabase, POSTGRES, SERVER_KINDS } from '../storage/sql/server/server-databases.ts'
import { runCommand, startServe } from './command.ts'
import { answering, proxied } from './proxy.ts'

// Real child processes of dist/cli.js.

const WORLD = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['alice-token'] }, { username: 'sam' }],
  organizations: [{ name: 'acme', owners: ['alice'], blocks: [{ user: 'sam', note: 'spam' }] }],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      issues: [1, 2, 3].map((index) => ({ index, title: `Issue ${index}`, poster: 'alice' })),
      pins: [2],
    },
  ],
  badges: [{ slug: 'owl', holders: ['sam'] }],
}

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-serve-'))
  await writeFile(join(folder, 'world.json'), JSON.stringify(WORLD))
})

afterAll(() => rm(folder, { recursive: true }))

/** Starts a server, stopped when the test ends. */
async function serve(...args: readonly string[]) {
  const running = await startServe(folder, args)
  onTestFinished(async () => void (await running.stop('SIGKILL')))
  return running
}

async function pinned(url: string): Promise<readonly unknown[]> {
  const reply = await fetch(`${url}/repos/acme/rocket/issues/pinned`)
  return ((await reply.json()) as readonly { readonly number: number }[]).map(({ number }) => number)
}

const headers = { authorization: 'token alice-token' }

/** The tables and views of a database, and no other on its server. */
async function tablesOf(kind: ServerKind, database: TestDatabase): Promise<readonly unknown[]> {
  const own = kind === MARIADB ? 'table_schema = database()' : "table_schema = 'public'"
  const rows = await database.run(`select table_name as name from information_schema.tables where ${own} order by 1`)
  return rows.map(({ name }) => name)
}

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (server) => {
    test('ten servers that start at once on an empty database load the fixture once', async () => {
      const { url, run } = await database(kind, server)
      const args = ['--db', url, '--fixture', 'world.json', '--json']
      const servers = await Promise.all(Array.from({ length: 10 }, () => serve(...args)))
      const started = servers.map((one) => JSON.parse(one.url) as { readonly url: string; readonly fixture: string })

      expect(started.map(({ fixture }) => fixture).sort()).toEqual([...Array(9).fill('ignored'), 'loaded'])
      expect(await run('select type from forgelet_events')).toHaveLength(4)
      const [first, last] = [started[0]?.url ?? '', started[9]?.url ?? '']
      expect((await fetch(`${first}/repos/acme/rocket/issues/3/pin`, { method: 'POST', headers })).status).toBe(204)
      expect(await pinned(last)).toEqual([2, 3])
      expect((await fetch(`${last}/orgs/acme/blocks/sam`, { headers })).status).toBe(204)
    })

    test('a server names its database without the password, and keeps its data', async () => {
      const { url } = await database(kind, server)
      const running = await serve('--db', url, '--fixture', 'world.json', '--prefix', 'a_')
      expect(await pinned(running.url)).toEqual([2])
      const { code, err } = await running.stop('SIGTERM')
      const { protocol, host, pathname } = new URL(url)
      expect([code, err]).toEqual([0, expect.stringContaining(`serving ${protocol}//${host}${pathname};`)])

      const again = await serve('--db', url, '--fixture', 'world.json', '--prefix', 'a_')
      expect(await pinned(again.url)).toEqual([2])
      const beside = await serve('--db', url)
      expect((await fetch(`${beside.url}/repos/acme/rocket/issues/pinned`)).status).toBe(404)
    })

    test('a fixture that is refused halfway leaves nothing behind', async () => {
      const { url, run } = await database(kind, server)
      const { openStandalone } = await import('../../src/standalone/standalone.ts')
      const refused = openStandalone({ db: url, fixture: WORLD, limits: { maxNoteLength: 2 } })
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT' })
      expect(await run('select name from host_accounts')).toEqual([])
      expect(await run('select type from forgelet_events')).toEqual([])
      expect((await serve('--db', url, '--fixture', 'world.json', '--json')).url).toContain('"fixture":"loaded"')
    })

    describe('forgelet serve refuses', () => {
      test.each(REFUSED.filter(([, only]) => only === undefined || only === kind))(
        '%s',
        async (_title, _only, prepare, line) => {
          const made = await newDatabase(kind, server)
          const url = await prepare(made)
          const before = await tablesOf(kind, made)
          const { code, out, err } = await runCommand(folder, [
            'serve',
            '--port',
            '0',
            '--db',
            url,
            '--fixture',
            'world.json',
          ])
          expect([code, out]).toEqual([3, ''])
          expect(err).toMatch(/^forgelet: database \w+:\/\/127\.0\.0\.1:\d+\/\w+ cannot be used: [^\n]+\n$/)
          expect(err).toContain(line)
          expect(err).not.toContain('secret')
          expect(await tablesOf(kind, made)).toEqual(before)
        },
      )
    })
  })
}

onServer(POSTGRES.server, (server) => {
  test('all tables are in the schema that --schema names', async () => {
    const { url, run } = await database(POSTGRES, server)
    const running = await serve('--db', url, '--fixture', 'world.json', '--schema', 'forge')
    expect(await pinned(running.url)).toEqual([2])
    const schemas = await run("select distinct schemaname as name from pg_tables where tablename ~ '^(host|forgelet)_'")
    expect(schemas).toEqual([{ name: 'forge' }])
  })
})

onServer(MARIADB.server, (server) => {
  /** A world whose issues have bodies of this many characters. */
  const worldOf = (issues: number, characters: number): string =>
    JSON.stringify({
      users: [{ username: 'alice' }],
      repositories: [
        {
          owner: 'alice',
          name: 'rocket',
          issues: many(issues).map((index) => ({
            index,
            title: `Issue ${index}`,
            poster: 'alice',
            body: 'é'.repeat(characters),
          })),
          pins: [2],
        },
      ],
    })

  test('a fixture that is larger than a packet of the server is loaded', async () => {
    const { url, run } = await database(MARIADB, server)
    const [row] = await run('select @@max_allowed_packet as most')
    const issues = 100
    const characters = Math.ceil(Number(row?.['most']) / issues)
    await writeFile(join(folder, 'large.json'), worldOf(issues, characters))
    await serve('--db', url, '--fixture', 'large.json')
    const [sum] = await run('select sum(char_length(body)) as characters from host_issues')
    expect(Number(sum?.['characters'])).toBe(issues * characters)
  })

  test('a fixture with an issue that is larger than a packet of the server is refused in one line', async () => {
    const { url, run } = await database(MARIADB, server)
    const [row] = await run('select @@max_allowed_packet as most')
    await writeFile(join(folder, 'larger.json'), worldOf(2, Number(row?.['most']) / 2))
    const args = ['serve', '--port', '0', '--db', url, '--fixture', 'larger.json']
    const { code, out, err } = await runCommand(folder, args)
    expect([code, out]).toEqual([3, ''])
    expect(err).toMatch(/^forgelet: database mysql:\/\/\S+ cannot be used: [^\n]+: raise max_allowed_packet\n$/)
    expect(await run('select id from host_accounts')).toEqual([])
  })
})

function many(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at + 1)
}

/** A database, and statements of the host's on it. */
async function database(kind: ServerKind, server: string) {
  const made = await newDatabase(kind, server)
  return { url: made.url, run: (sql: string) => made.run(sql) }
}

/** What is refused: the kind of server, if only one can; how to bring it about, and what is said. */
const REFUSED: readonly (readonly [
  title: string,
  only: ServerKind | undefined,
  prepare: (database: TestDatabase) => Promise<string>,
  line: string,
])[] = [
  [
    'a wrong password of PostgreSQL',
    POSTGRES,
    ({ url }) => answering(withUser(url, 'forge'), POSTGRES_REFUSAL),
    'the PostgreSQL server refuses the password: correct the user or the password\n',
  ],
  [
    'a wrong password of MariaDB',
    MARIADB,
    async ({ url }) => withUser(url, 'no_such_user'),
    'the server refuses the user: correct the user or the password\n',
  ],
  [
    'a wrong database',
    undefined,
    async ({ url }) => Object.assign(new URL(url), { pathname: '/no_such_database' }).href,
    ': create it, or correct ',
  ],
  [
    'a role that may not make tables, of PostgreSQL',
    POSTGRES,
    (made) => withLimitedRole(made),
    'the role of the connection lacks a privilege: grant it what it needs on the schema and its tables\n',
  ],
  [
    'a user who may not make tables, of MariaDB',
    MARIADB,
    (made) => withLimitedUser(made),
    'the server refuses the user access to a table of the storage: grant the privilege it lacks\n',
  ],
  [
    'an older PostgreSQL',
    POSTGRES,
    ({ url }) => proxied(url, (text) => text.replaceAll(/(?<!\d)1[3-9](\d{4})(?!\d)/g, '12$1')),
    'the server is PostgreSQL 12: needed is 13 or newer\n',
  ],
  [
    'an older MariaDB',
    MARIADB,
    ({ url }) => proxied(url, (text) => text.replaceAll(/1\d\.\d+(\.\d+-MariaDB)/g, '10.05$1')),
    ': needed is 10.6 or newer\n',
  ],
  ...['create table host_accounts (id integer)', 'create table forgelet_pins (pin integer)'].map(
    (sql) =>
      [
        `the tables of another program: ${sql}`,
        undefined,
        async (made: TestDatabase) => {
          await made.run(sql)
          return made.url
        },
        'it holds tables of another program: name another database\n',
      ] as const,
  ),
  [
    'the forge of an application',
    undefined,
    async (made) => {
      await made.migrated()
      return made.url
    },
    "it holds the forge of an application and none of this server's tables: name another database\n",
  ],
  [
    'tables of a newer release',
    undefined,
    async (made) => {
      const running = await serve('--db', made.url)
      await running.stop()
      await made.run('update host_schema set version = 99, oldest_library = 99')
      return made.url
    },
    'its tables have version 99, newer than this release supports: install a newer forgelet, or name another database with --db\n',
  ],
]

/** How PostgreSQL answers a wrong password. The servers of the tests ask for none. */
const POSTGRES_REFUSAL = ((): Buffer => {
  const fields = Buffer.from('SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "forge"\0\0')
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
})()

function withUser(url: string, username: string): string {
  return Object.assign(new URL(url), { username, password: 'secret' }).href
}

async function withLimitedRole(made: TestDatabase): Promise<string> {
  const role = `limited_${process.pid}`
  await made.run(`create role ${role} login`)
  onTestFinished(async () => void (await made.run(`drop role ${role}`)))
  return withUser(made.url, role)
}

async function withLimitedUser(made: TestDatabase): Promise<string> {
  const user = `limited_${process.pid}`
  await made.run(`create user ${user} identified by 'secret'`)
  onTestFinished(async () => void (await made.run(`drop user ${user}`)))
  await made.run(`grant select on ${new URL(made.url).pathname.slice(1)}.* to ${user}`)
  return withUser(made.url, user)
}
