import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ask } from '../http-adapters/cases/case.ts'
import { cases } from '../http-adapters/cases.ts'
import { onServer } from '../storage/databases/servers.ts'
import { newDatabase, SERVER_KINDS } from '../storage/sql/server/server-databases.ts'
import type { Served } from './served.ts'
import { serveFrom } from './served.ts'
import type { Reply } from './wire-reply.ts'
import { replyOf } from './wire-reply.ts'
import { wireWorld } from './wire-world.ts'

// Every request of the wire cases to dist/cli.js, one after the other: a server answers to the byte what SQLite does.

const WORLD = wireWorld((index) => `Number ${index} 🚀`)

/** Names and texts that one database or another does not keep, or keeps in another form. */
const ODD_NAMES = [
  '%00',
  'a%00b',
  'acme%20',
  '%20acme',
  'ACME',
  'acm%C3%A9',
  '%F0%9F%A6%89',
  'a%CC%81',
  'x'.repeat(300),
]
const ODD: readonly Ask[] = [
  ...ODD_NAMES.flatMap((name): readonly Ask[] => [
    ['olga', 'GET', `/orgs/${name}/blocks`],
    ['olga', 'PUT', `/orgs/acme/blocks/${name}`],
    ['root', 'GET', `/admin/users/${name}/badges`],
    ['root', 'GET', `/repos/${name}/${name}/issues/pinned`],
  ]),
  ...['\\u0000', '\\ud800', '\\udc00x', '🦉', 'x'.repeat(256), '  blanks  '].flatMap((text): readonly Ask[] => [
    ['olga', 'PUT', '/orgs/acme/blocks/will', `{"note":"${text}"}`],
    ['root', 'POST', '/admin/users/will/badges', `{"badge_slugs":["${text}"]}`],
  ]),
  ...['9007199254740993', '99999999999999999999999', '1e3', '-1', '0'].map(
    (index): Ask => ['ada', 'POST', `/repos/acme/rocket/issues/${index}/pin`],
  ),
  ['root', 'GET', '/orgs/acme/blocks?limit=50'],
]

const ASKED: readonly (readonly [fact: string, asks: readonly Ask[]])[] = [
  ...Object.entries(cases).flatMap(([section, list]) =>
    list.map(({ fact, before = [], ask, after }) => {
      const look: readonly Ask[] = after === undefined ? [] : [['root', 'GET', after[0]]]
      return [`${section}: ${fact}`, [...before, ask, ...look]] as const
    }),
  ),
  ...ODD.map((ask) => [`oddly: ${ask.join(' ').slice(0, 80)}`, [ask]] as const),
]

const PUBLIC_URL = 'https://git.example.com'
const ends: (() => Promise<void>)[] = []
let onSqlite: Served

beforeAll(async () => {
  onSqlite = await serveFrom(() => ':memory:', { publicUrl: PUBLIC_URL }, WORLD)
})

afterAll(async () => {
  await onSqlite.stop()
  for (const end of ends) await end()
})

/** The replies of SQLite, which are asked for once. */
const expected = new Map<Ask, Promise<Reply>>()

function expectedOf(ask: Ask): Promise<Reply> {
  const known = expected.get(ask) ?? replyOf(onSqlite.url, ask)
  expected.set(ask, known)
  return known
}

describe('forgelet serve', () => {
  for (const kind of SERVER_KINDS) {
    onServer(kind.server, (server) => {
      let served: Served

      beforeAll(async () => {
        const { url } = await newDatabase(kind, server, (end) => void ends.unshift(end))
        served = await serveFrom(() => url, { publicUrl: PUBLIC_URL }, WORLD)
        ends.unshift(() => served.stop())
      })

      test('the requests are answered in every way', async () => {
        const statuses = new Set<number | undefined>()
        for (const ask of ASKED.flatMap(([, asks]) => asks)) statuses.add((await expectedOf(ask)).status)
        expect([...statuses].sort()).toEqual([200, 204, 400, 401, 403, 404, 405, 409, 422])
      })

      test.each(ASKED)('%s', async (_fact, asks) => {
        for (const ask of asks) expect(await replyOf(served.url, ask)).toEqual(await expectedOf(ask))
      })
    })
  }
})
