import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ask } from '../http-adapters/cases/case.ts'
import { cases } from '../http-adapters/cases.ts'
import { onServer } from '../storage/databases/servers.ts'
import { newDatabase, SERVER_KINDS } from '../storage/sql/server/server-databases.ts'
import type { Served } from './served.ts'
import { serveFrom } from './served.ts'

// Every request of the wire cases to dist/cli.js, one after the other: a server answers to the byte what SQLite does.

const createdAt = '2026-01-01T00:00:00Z'
const PEOPLE = ['root', 'olga', 'mia', 'ada', 'will', 'rita', 'stan', 'gone']

/** The world of the wire cases, as a fixture. */
const WORLD = {
  users: PEOPLE.map((username) => ({ username, tokens: [username], siteAdmin: username === 'root', createdAt })),
  organizations: [
    { name: 'acme', owners: ['olga'], members: ['mia'], createdAt },
    { name: 'hidden', visibility: 'private', owners: ['olga'], members: ['mia'], createdAt },
  ],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      admins: ['ada'],
      labels: [{ name: 'bug 🐛' }, { name: 'idée' }],
      issues: [1, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => ({
        index,
        pull: index > 5,
        title: `Number ${index} 🚀`,
        body: 'trailing blanks  \n\ttab, ﬁ ligature, ẞ, 𝔘𝔫𝔦𝔠𝔬𝔡𝔢',
        poster: 'stan',
        labels: ['idée', 'bug 🐛'],
        assignees: ['will', 'gone'],
        createdAt,
      })),
      createdAt,
    },
    {
      owner: 'acme',
      name: 'secret',
      private: true,
      admins: ['ada'],
      readers: ['will', 'rita'],
      issues: [{ index: 1, title: 'Hush', poster: 'mia', createdAt }],
      createdAt,
    },
  ],
  badges: [
    { slug: 'night-owl', description: 'The night-owl', imageUrl: 'https://example.com/night-owl.png' },
    { slug: 'founder' },
  ],
}

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

interface Reply {
  readonly status: number | undefined
  readonly headers: object
  readonly text: string
}

/** The reply as it is on the wire, without what every reply has another of. */
async function replyOf(served: Served, [who, method, path, body]: Ask): Promise<Reply> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  const headers = {
    ...(who !== 'nobody' && { authorization: `token ${who}` }),
    ...(text !== undefined && { 'content-length': Buffer.byteLength(text) }),
  }
  return new Promise((resolve, reject) => {
    const asked = request(`${served.url}${path}`, { method, headers }, async (reply) => {
      const { date: _, ...rest } = reply.headers
      resolve({ status: reply.statusCode, headers: rest, text: Buffer.concat(await reply.toArray()).toString() })
    })
    asked.on('error', reject).end(text)
  })
}

/** The replies of SQLite, which are asked for once. */
const expected = new Map<Ask, Promise<Reply>>()

function expectedOf(ask: Ask): Promise<Reply> {
  const known = expected.get(ask) ?? replyOf(onSqlite, ask)
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
        expect([...statuses].sort()).toEqual([200, 204, 400, 401, 403, 404, 405, 422])
      })

      test.each(ASKED)('%s', async (_fact, asks) => {
        for (const ask of asks) expect(await replyOf(served, ask)).toEqual(await expectedOf(ask))
      })
    })
  }
})
