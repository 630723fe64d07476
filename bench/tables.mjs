// A host that describes its tables to the storage against the same host with ports by hand, both over HTTP: a pin, for which the
// user, the repository, the role and the issue are looked up, and a page of a list that is counted where the database removes rows.
import { strictEqual } from 'node:assert'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { inPostgres } from './databases.mjs'
import { compare, inFolder, interleave } from './harness.mjs'
import { ask, serverSide, startServer, toRequest } from './servers.mjs'
import { HOST } from './tables-server.mjs'

const SCRIPT = join(import.meta.dirname, 'tables-server.mjs')
const TOKEN = 'token t1'
const ROWS = 2000
const BLOCKED = 1000
const PAGE = toRequest('GET', '/orgs/acme/blocks?limit=50', TOKEN)

/** Pins and unpins one of three issues: each pin adds a row. */
const pin = (n) =>
  toRequest(n % 2 === 0 ? 'POST' : 'DELETE', `/repos/acme/rocket/issues/${1 + ((n >> 1) % 3)}/pin`, TOKEN)

/** Measures pins and a page, on both databases. */
export async function measure({ slices }) {
  return [
    ...(await inFolder((folder) => onDatabase('SQLite', (side) => sqliteHost(join(folder, `${side}.sqlite`)), slices))),
    ...(await inPostgres((tables) =>
      inPostgres((ports) =>
        onDatabase('PostgreSQL', (side) => postgresHost(side === 'tables' ? tables : ports), slices),
      ),
    )),
  ]
}

async function onDatabase(name, prepare, slices) {
  const sides = {}
  const servers = []
  for (const side of ['tables', 'ports']) {
    const server = await startServer(SCRIPT, side, [await prepare(side)])
    servers.push(server)
    for (let user = 2; user < 2 + BLOCKED; user += 1) {
      const { status } = await ask(server, toRequest('PUT', `/orgs/acme/blocks/u${user}`, TOKEN))
      strictEqual(status, 204)
    }
    sides[`${side}: pin`] = serverSide(server, pin, { status: 204, count: 200, warmUp: 2000, connections: 1 })
    sides[`${side}: page`] = serverSide(server, () => PAGE, { status: 200, count: 100, warmUp: 1000, connections: 1 })
  }
  const measured = await interleave(sides, { slices })
  for (const server of servers) server.stop()
  return [
    {
      work: `POST and DELETE pin with tables, ${name}, time`,
      floor: 'the same host with ports by hand',
      of: ['tables: pin', 'ports: pin'],
      by: 'wall',
      reach: 1.3,
    },
    {
      work: `GET page of 50 of 1,000 blocks with tables, ${name}`,
      floor: 'the same host with ports by hand',
      of: ['tables: page', 'ports: page'],
      reach: 0.67, // at most 1.5 times as slow
    },
  ].map((row) => compare(measured, row))
}

async function sqliteHost(file) {
  const handle = new Database(file)
  handle.pragma('journal_mode = wal')
  // On SQLite, only a key of the type integer is the row's own place: what a host has there.
  for (const statement of HOST) handle.exec(statement.replaceAll('bigint', 'integer'))
  const series = `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${ROWS}) select n from s) as s`
  for (const statement of rows(series)) handle.exec(statement)
  handle.close()
  return file
}

async function postgresHost(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const statement of [...HOST, ...rows(`generate_series(1, ${ROWS}) as s(n)`), 'analyze'])
    await client.query(statement)
  await client.end()
  return url
}

function rows(series) {
  return [
    `insert into users (id, username, token) select n, 'u' || n, 't' || n from ${series}`,
    `insert into issues (id, repo_id, number, title) select n, 10, n, 'Issue ' || n from ${series}`,
  ]
}
