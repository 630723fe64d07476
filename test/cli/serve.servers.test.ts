import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import type { TestDatabase } from '../databases.ts'
import { MARIADB, newDatabase, onDatabase, onDatabases, POSTGRES, SERVER_KINDS } from '../databases.ts'
import { runForgelet, startCommand, startForgelet, startForgeletProcess } from '../start-forgelet.ts'
import { silentProxy } from '../storage/proxies.ts'
import { databaseCommands } from './database-commands-suite.ts'
import { WORLD as fixture, pinned } from './small-world.ts'

// The command on PostgreSQL and MariaDB.

const headers = { authorization: 'token alice-token' }

/** How the kinds of servers differ here. */
const DIFFERENCES = {
  postgres: {
    tables: "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
    poolSize: 'max',
    // Autovacuum has processes too.
    connections:
      'select count(*)::int as n from pg_stat_activity ' +
      "where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
  },
  mariadb: {
    tables: 'select table_name as name from information_schema.tables where table_schema = database() order by 1',
    poolSize: 'connectionLimit',
    connections:
      'select count(*) as n from information_schema.processlist where db = database() and id <> connection_id()',
  },
}

const serve = (...args: readonly string[]) => startForgelet(args, { fixture })

/** Makes the tables of the server and of the forge. */
async function installed<Tx>(database: TestDatabase<Tx>): Promise<TestDatabase<Tx>> {
  await (await openStandalone({ db: database.url, fixture })).close()
  return database
}

databaseCommands(SERVER_KINDS)

onDatabases(SERVER_KINDS, (_open, kind) => {
  const { tables, poolSize, connections } = DIFFERENCES[kind.name === MARIADB.name ? 'mariadb' : 'postgres']

  test('four servers that start at once on an empty database load the fixture once', async () => {
    const { url, run } = await empty()
    const start = () => startForgeletProcess(['--db', url, '--json'], { fixture })
    const servers = await Promise.all(Array.from({ length: 4 }, start))
    const started = servers.map((one) => JSON.parse(one.url) as { readonly url: string; readonly fixture: string })

    expect(started.map((one) => one.fixture).sort()).toEqual(['ignored', 'ignored', 'ignored', 'loaded'])
    expect(await run('select type from forgelet_events')).toHaveLength(4)
    const [first, last] = [started[0]?.url ?? '', started[3]?.url ?? '']
    expect((await fetch(`${first}/repos/acme/rocket/issues/3/pin`, { method: 'POST', headers })).status).toBe(204)
    expect(await pinned(last)).toEqual([2, 3])
    expect((await fetch(`${last}/orgs/acme/blocks/sam`, { headers })).status).toBe(204)
  })

  test('a server names its database without the password, and keeps its data', async () => {
    const { url } = await empty()
    const first = await serve('--db', url, '--prefix', 'a_')
    expect(await pinned(first.url)).toEqual([2])
    const { protocol, host, pathname } = new URL(url)
    expect(await first.stop()).toMatchObject({
      code: 0,
      err: expect.stringContaining(`serving ${protocol}//${host}${pathname};`),
    })
    expect(await pinned((await serve('--db', url, '--prefix', 'a_')).url)).toEqual([2])
  })

  test.each([
    ['ten connections', '', 10],
    ['one connection if the URL states so', `?${poolSize}=1`, 1],
  ])('a process under load takes %s, and every request is answered', async (_title, query, expected) => {
    const database = await empty()
    const { url } = await startForgeletProcess(['--db', `${database.url}${query}`], { fixture })
    let isLoading = true
    const most = async (): Promise<number> => {
      for (let highest = 0; ; await turn()) {
        const [row] = await database.run(connections)
        highest = Math.max(highest, Number(row?.['n']))
        if (!isLoading) return highest
      }
    }
    const counted = most()
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, n) => statusOf(url, n)))
    isLoading = false

    expect(statuses.filter((status) => status >= 500)).toEqual([])
    expect(await counted).toBe(expected)
  })

  test.each([
    ['the forge', 'update forgelet_ledger set version = 0'],
    ['the host', 'update host_ledger set version = 0'],
    ['the host, missing', 'drop table host_ledger'],
  ])('a server is not ready while the tables of %s are outdated', async (_, sql) => {
    const database = await empty()
    const { url } = await serve('--db', database.url)
    expect(await probe(url, '/readyz')).toEqual([200, undefined])
    await database.run(sql)
    expect(await probe(url, '/readyz')).toEqual([503, 'the database cannot be used: SCHEMA_OUTDATED'])
    expect(await probe(url, '/healthz')).toEqual([200, undefined])
  })

  test('a server is not ready while its database is silent, says so within three seconds, and recovers', async () => {
    const proxy = await silentProxy((await empty()).url)
    onTestFinished(() => proxy.end())
    const { url, stop } = await serve('--db', proxy.url)
    expect(await probe(url, '/readyz')).toEqual([200, undefined])
    proxy.silence()
    const began = performance.now()
    const found = await Promise.all(['/readyz', '/healthz'].map((path) => probe(url, path)))
    const unavailable = [503, 'the database cannot be used: STORAGE_UNAVAILABLE']
    expect(found).toEqual([unavailable, [200, undefined]])
    expect(performance.now() - began).toBeLessThan(3000)

    proxy.revive()
    await vi.waitFor(async () => expect(await probe(url, '/readyz')).toEqual([200, undefined]), { timeout: 15_000 })
    const { code, err } = await stop()
    expect([code, err.match(/warning: not ready \{/g)]).toEqual([0, [expect.anything()]])
    expect(err).toContain('the database did not answer within two seconds')
  })

  describe('a database is refused in one line, without the password, and nothing is made:', () => {
    const refused: readonly Refusal[] = [...REFUSED, ...(kind.name === MARIADB.name ? BY_MARIADB : [])]
    test.each(refused)('%s', async (_title, prepare, line) => {
      const made = await newDatabase(kind)
      const url = await prepare(made)
      const before = await made.run(tables)
      const { code, out, err } = await runForgelet(['serve', '--port', '0', '--db', url])
      expect([code, out]).toEqual([3, ''])
      expect(err).toMatch(/^forgelet: database \w+:\/\/127\.0\.0\.1:\d+\/\w+ cannot be used: [^\n]+\n$/)
      expect(err).toContain(line)
      expect(err).not.toContain('secret')
      expect(await made.run(tables)).toEqual(before)
    })
  })

  /** A new database, which can be used in parts. */
  async function empty() {
    const database = await newDatabase(kind)
    return { url: database.url, run: (sql: string) => database.run(sql) }
  }
})

/** Reads and changes, so that every kind of use of the pool occurs. */
async function statusOf(url: string, n: number): Promise<number> {
  const requests = [
    'GET /repos/acme/rocket/issues/pinned',
    'POST /repos/acme/rocket/issues/1/pin',
    'PUT /orgs/acme/blocks/sam',
    'GET /orgs/acme/blocks',
    'DELETE /orgs/acme/blocks/sam',
    'DELETE /repos/acme/rocket/issues/1/pin',
  ]
  const [method = '', path = ''] = requests[n % requests.length]?.split(' ') ?? []
  return (await fetch(`${url}${path}`, { method, headers })).status
}

async function probe(url: string, path: string): Promise<readonly unknown[]> {
  const reply = await fetch(new URL(path, url))
  const body: unknown = await reply.json()
  return [reply.status, typeof body === 'object' && body !== null && Reflect.get(body, 'message')]
}

onDatabase(POSTGRES, () => {
  test('all tables are in the schema that --schema names, and found there again', async () => {
    const database = await newDatabase(POSTGRES)
    for (const outcome of ['loaded', 'ignored']) {
      const { url, stop } = await serve('--db', database.url, '--schema', 'forge', '--prefix', 'a_', '--json')
      expect(JSON.parse(url).fixture).toBe(outcome)
      await stop()
    }
    const schemas = "select distinct schemaname as name from pg_tables where tablename ~ '^a_'"
    expect(await database.run(schemas)).toEqual([{ name: 'forge' }])
  })

  test('commits of a role that are not durable are reported', async () => {
    const database = await installed(await newDatabase(POSTGRES))
    await database.run(`alter database ${new URL(database.url).pathname.slice(1)} set synchronous_commit = off`)
    const status = await runForgelet(['schema', 'status', '--db', database.url])
    expect(status).toMatchObject({ code: 1, out: expect.stringMatching(/^current\nwarning: [^\n]*synchronous_commit/) })
    const { code, out } = await runForgelet(['doctor', '--db', database.url, '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ forge: { warnings: [expect.stringMatching(/synchronous_commit/)] } })
  })

  test('forgelet schema stops on a signal while it waits for another transaction', async () => {
    const database = await newDatabase(POSTGRES)
    const other = await database.begun()
    await other.run('create table forgelet_ledger (version integer)')
    const running = startCommand(['schema', 'apply', '--db', database.url])
    const waiting =
      "select 1 as x from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    while ((await database.run(waiting)).length === 0);

    const ended = { code: 3, err: expect.stringContaining('stopped before the end') }
    expect(await running.stop('SIGINT')).toMatchObject(ended)
    await other.rollback()
    expect(await database.run("select 1 as x from pg_class where relname = 'forgelet_ledger'")).toEqual([])
  })
})

onDatabase(MARIADB, () => {
  /** A world whose issues have bodies of this many characters. */
  const worldOf = (issues: number, characters: number): object => ({
    users: [{ username: 'alice' }],
    repositories: [
      {
        owner: 'alice',
        name: 'rocket',
        issues: Array.from({ length: issues }, (_, at) => ({
          index: at + 1,
          title: `Issue ${at + 1}`,
          poster: 'alice',
          body: 'é'.repeat(characters),
        })),
      },
    ],
  })

  test('a fixture may be larger than a packet of the server, and an issue in it may not', async () => {
    const database = await newDatabase(MARIADB)
    const [row] = await database.run('select @@max_allowed_packet as most')
    const most = Number(row?.['most'])
    const larger = startForgelet(['--db', database.url], { fixture: worldOf(2, most / 2) })
    await expect(larger).rejects.toThrow(
      /^forgelet: database mysql:\/\/\S+ cannot be used: [^\n]+: raise max_allowed_packet \(1153\)\n$/,
    )
    expect(await database.run('select id from host_accounts')).toEqual([])

    const characters = Math.ceil(most / 100)
    await startForgelet(['--db', database.url], { fixture: worldOf(100, characters) })
    const [sum] = await database.run('select sum(char_length(record)) as characters from host_issues')
    expect(Number(sum?.['characters'])).toBeGreaterThan(100 * characters)
  })
})

/** What is refused: how to bring it about, and what is said. */
type Refusal = readonly [title: string, prepare: <Tx>(database: TestDatabase<Tx>) => Promise<string>, line: string]

const REFUSED: readonly Refusal[] = [
  [
    'a wrong database',
    async ({ url }) => Object.assign(new URL(url), { pathname: '/no_such_database' }).href,
    ': create it, or correct ',
  ],
  ...['create table host_accounts (id integer)', 'create table forgelet_pins (pin integer)'].map(
    (sql): Refusal => [
      `the tables of another program: ${sql}`,
      async (made) => {
        await made.run(sql)
        return made.url
      },
      'it holds tables of another program: name another database\n',
    ],
  ),
]

/** Users of PostgreSQL need no password in these tests. */
const BY_MARIADB: readonly Refusal[] = [
  [
    'a wrong password',
    async ({ url }) => Object.assign(new URL(url), { username: 'no_such_user', password: 'secret' }).href,
    'the server refuses the user: correct the user or the password (1045)\n',
  ],
]
