import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { onServer } from '../storage/databases/servers.ts'
import type { TestDatabase } from '../storage/sql/server/server-databases.ts'
import { MARIADB, newDatabase, POSTGRES } from '../storage/sql/server/server-databases.ts'
import { startServe } from './command.ts'

// docs/databases.md states these numbers: how many connections a process takes. dist/cli.js, counted by the server itself.

const REQUESTS = 120
const WORLD = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['alice-token'] }, { username: 'sam' }],
  organizations: [{ name: 'acme', owners: ['alice'] }],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      issues: [1, 2, 3].map((index) => ({ index, title: `Issue ${index}`, poster: 'alice' })),
      pins: [2],
    },
  ],
}

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'forgelet-connections-'))
  writeFileSync(join(folder, 'world.json'), JSON.stringify(WORLD))
})

afterAll(() => rmSync(folder, { recursive: true }))

const SERVERS = [
  {
    kind: POSTGRES,
    parameter: 'max',
    count:
      'select count(*)::int as n from pg_stat_activity ' +
      "where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'", // also autovacuum has processes
  },
  {
    kind: MARIADB,
    parameter: 'connectionLimit',
    count: 'select count(*) as n from information_schema.processlist where db = database() and id <> connection_id()',
  },
]

for (const { kind, parameter, count } of SERVERS) {
  onServer(kind.server, (server) => {
    test.each([
      ['ten connections', '', 10],
      ['one connection if the URL states so', `?${parameter}=1`, 1],
    ])('a process under load takes %s, and every request is answered', async (_title, query, expected) => {
      const database = await newDatabase(kind, server)
      const running = await startServe(folder, ['--db', `${database.url}${query}`, '--fixture', 'world.json'])
      onTestFinished(async () => void (await running.stop('SIGKILL')))

      let loading = true
      const most = mostConnections(database, count, () => loading)
      const statuses = await Promise.all(Array.from({ length: REQUESTS }, (_, n) => statusOf(running.url, n)))
      loading = false

      expect(statuses.filter((status) => status >= 500)).toEqual([])
      expect(await most).toBe(expected)
    })
  })
}

/** Counts the connections of others again and again; returns the highest count. */
async function mostConnections(database: TestDatabase, count: string, goesOn: () => boolean): Promise<number> {
  let most = 0
  while (goesOn()) {
    const [row] = await database.run(count)
    most = Math.max(most, Number(row?.['n']))
    await turn()
  }
  return most
}

/** Reads and changes, so that every kind of use of the pool occurs. */
async function statusOf(url: string, n: number): Promise<number> {
  const [method = '', path = ''] = REQUESTED[n % REQUESTED.length] ?? []
  const { status } = await fetch(`${url}${path}`, { method, headers: { authorization: 'token alice-token' } })
  return status
}

const REQUESTED = [
  ['GET', '/repos/acme/rocket/issues/pinned'],
  ['POST', '/repos/acme/rocket/issues/1/pin'],
  ['PUT', '/orgs/acme/blocks/sam'],
  ['GET', '/orgs/acme/blocks'],
  ['DELETE', '/orgs/acme/blocks/sam'],
  ['DELETE', '/repos/acme/rocket/issues/1/pin'],
]
