import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import pg from 'pg'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { KnownHost } from '../../app/testing/testing.ts'
import { mountContract } from '../../app/testing/testing.ts'
import type { TestDatabase } from '../databases.ts'
import { newDatabase, onDatabase, POSTGRES } from '../databases.ts'
import { listening } from '../http.ts'
import type { CodeForge } from './code-forge/application.ts'
import { JOINING, newId, openCodeForge, TABLES } from './code-forge/application.ts'

// A code forge whose tables are its own (code-forge/), with forgelet beside them, over HTTP and by its own SQL.

const GLUE = resolve(import.meta.dirname, 'code-forge/glue.ts')

const KNOWN: KnownHost = {
  services: ['pins', 'blocks', 'badges'],
  authorization: 'token root-token',
  organization: 'acme',
  users: ['mia', 'MIA'],
  repository: 'acme/rocket',
  elsewhere: [{ path: '/about', text: 'Cannot GET /about' }],
}

const people = ['root', 'olga', 'mia', 'MIA', 'sam', 'zoe', 'bot'] as const
const user = new Map<string, string>(people.map((name) => [name, newId('usr')]))
const idOf = (name: (typeof people)[number]): string => user.get(name) ?? ''
const [ACME, ZOE] = [newId('org'), newId('org')]
const repositories = { rocket: newId('repo'), secret: newId('repo'), shared: newId('repo'), notes: newId('repo') }

/** Users, of whom `mia` and `MIA` differ in case; organizations acme and zoe, which a user is called too; what they own. */
const ROWS: readonly string[] = [
  `insert into users (id, username, email, is_admin) values ${people.map((name) => `('${idOf(name)}', '${name}', '${name}@example.com', ${name === 'root'})`).join()}`,
  `insert into access_tokens select username || '-token', id from users`,
  `insert into organizations values ('${ACME}', 'acme'), ('${ZOE}', 'zoe')`,
  `insert into memberships values ('${ACME}', '${idOf('olga')}', 'owner'), ('${ACME}', '${idOf('bot')}', 'bot'), ('${ZOE}', '${idOf('olga')}', 'owner')`,
  `insert into repositories values ('${repositories.rocket}', '${ACME}', 'rocket', 'public'), ('${repositories.secret}', '${ACME}', 'secret', 'private'),
    ('${repositories.shared}', '${ACME}', 'shared', 'internal'), ('${repositories.notes}', '${idOf('mia')}', 'notes', 'public')`,
  ...Object.values(repositories).flatMap((id) => [
    ...[1, 2, 3, 4, 5].map(
      (number) =>
        `insert into issues (id, repository_id, number, title, author_id) values ('${newId('issue')}', '${id}', ${number}, 'Issue ${number}', '${idOf('mia')}')`,
    ),
    ...[1, 9].map(
      (number) =>
        `insert into pull_requests (id, repository_id, number, title, author_id) values ('${newId('pr')}', '${id}', ${number}, 'Pull ${number}', '${idOf('mia')}')`,
    ),
  ]),
]

onDatabase(POSTGRES, () => {
  let database: TestDatabase
  let forge: CodeForge['forge']
  let origin: string
  let pool: pg.Pool
  let ends: (() => Promise<void>)[] = []

  beforeAll(() => () => Promise.all(ends.map((end) => end())))
  const open = async () => {
    for (const end of ends.reverse()) await end()
    ends = []
    database = await newDatabase(POSTGRES, { atEnd: (end) => void ends.push(end) })
    for (const statement of [...TABLES, ...ROWS]) await database.run(statement)
    pool = new pg.Pool({ connectionString: database.url })
    pool.on('error', () => undefined) // the database goes before its last connection
    ends.push(() => pool.end())
    const opened = await openCodeForge(pool)
    forge = opened.forge
    ends.push(() => forge.close())
    const running = await listening(createServer(opened.app))
    ends.push(() => running.stop())
    origin = running.origin
  }

  const ask = async (method: string, path: string, who?: string, headers: Record<string, string> = {}) => {
    const authorization = who === undefined ? undefined : { authorization: `token ${who}-token` }
    const reply = await fetch(new URL(path, origin), { method, headers: { ...authorization, ...headers } })
    const text = await reply.text()
    return { status: reply.status, body: /^[[{]/.test(text) ? JSON.parse(text) : text }
  }
  const status = async (...args: Parameters<typeof ask>) => (await ask(...args)).status
  const api = (path: string) => `/api/v1${path}`
  const pinned = async (path: string, who?: string) =>
    (await ask('GET', api(path), who)).body.map(
      ({ number, pin_order }: Record<string, unknown>) => `${pin_order}:${number}`,
    )

  test('the glue has at most 120 lines', () => {
    const lines = readFileSync(GLUE, 'utf8').split('\n')
    expect(lines.filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line)).length).toBeLessThanOrEqual(120)
  })

  describe('the mount contract over it', () => {
    beforeAll(open)
    const mounted = async () => ({ origin, prefix: '/api/v1', stop: async () => undefined })
    for (const { name, run } of mountContract(mounted, KNOWN)) test(name, run)
  })

  describe('over HTTP and by its own statements', () => {
    beforeEach(open)

    test('who may see and pin is what its visibilities and members say', async () => {
      const seen = (name: string, who?: string) => status('GET', api(`/repos/acme/${name}/issues/pinned`), who)
      expect(await Promise.all([seen('rocket'), seen('shared'), seen('secret')])).toEqual([200, 404, 404])
      expect(await Promise.all([seen('shared', 'sam'), seen('secret', 'sam')])).toEqual([200, 404])
      expect(await Promise.all([seen('secret', 'bot'), seen('secret', 'root')])).toEqual([200, 200])

      const pin = (path: string, who?: string) => status('POST', api(`/repos/${path}/pin`), who)
      expect(await pin('acme/rocket/issues/1')).toBe(401)
      expect(await pin('acme/rocket/issues/1', 'bot')).toBe(403)
      expect(await pin('acme/rocket/issues/1', 'no-one')).toBe(401)
      expect(await pin('acme/rocket/issues/99999999999', 'olga')).toBe(404)
      for (const number of [1, 2, 3]) expect(await pin(`acme/rocket/issues/${number}`, 'olga')).toBe(204)
      expect(await pin('acme/rocket/issues/4', 'olga')).toBe(400)
      expect(await pin('mia/notes/issues/1', 'mia')).toBe(204)
      expect(await pin('mia/notes/issues/2', 'MIA')).toBe(403)
      expect(await pin('MIA/notes/issues/2', 'mia')).toBe(404) // MIA is someone else, who has no notes
    })

    test('numbers of issues and pull requests are counted apart: a path has the issue, the services have both', async () => {
      const pin = (number: number) => status('POST', api(`/repos/acme/rocket/issues/${number}/pin`), 'olga')
      expect([await pin(1), await pin(9)]).toEqual([204, 204])
      const olga = { id: idOf('olga'), isAdmin: false }
      const [pull] = await database.run(
        `select id from pull_requests where repository_id = '${repositories.rocket}' and number = 1`,
      )
      const ref = { id: String(pull?.['id']), repositoryId: repositories.rocket, kind: 'pullRequest' } as const
      await forge.pins.pin(olga, ref)
      expect(await pinned('/repos/acme/rocket/issues/pinned')).toEqual(['1:1'])
      expect(await pinned('/repos/acme/rocket/pulls/pinned')).toEqual(['1:9', '2:1'])
      await database.run(`delete from pull_requests where id = '${ref.id}'`)
      expect(await pinned('/repos/acme/rocket/pulls/pinned')).toEqual(['1:9'])
    })

    test('names are compared exactly, and a user and an organization may share one', async () => {
      expect(await status('PUT', api('/orgs/acme/blocks/MIA'), 'olga')).toBe(204)
      expect(await status('GET', api('/orgs/acme/blocks/mia'), 'olga')).toBe(404)
      expect(await status('GET', api('/orgs/acme/blocks/MIA'), 'olga')).toBe(204)
      expect(await status('PUT', api('/orgs/acme/blocks/zoe'), 'olga')).toBe(204)
      expect((await ask('GET', api('/orgs/acme/blocks'), 'olga')).body).toMatchObject([
        { login: 'MIA', id: idOf('MIA'), email: 'MIA@example.com' },
        { login: 'zoe' },
      ])
      expect(await status('GET', api('/orgs/zoe/blocks'), 'olga')).toBe(200)
      expect(await status('PUT', api('/orgs/acme/blocks/acme'), 'olga')).toBe(422)
    })

    test.each(JOINING)('whom the organization blocks does not become a member by $name', async ({ join }) => {
      const block = api('/orgs/acme/blocks/sam')
      expect(await status('PUT', block, 'olga')).toBe(204)
      await expect(join(pool, database.url, ACME, idOf('sam'))).rejects.toMatchObject({ code: '23514' })
      expect(await status('POST', `/repositories/${repositories.rocket}/comments`, 'sam')).toBe(403)
      expect(await status('DELETE', block, 'olga')).toBe(204)
      await database.run('delete from group_users')
      await join(pool, database.url, ACME, idOf('sam'))
      expect(await ask('PUT', block, 'olga')).toMatchObject({ status: 422 })
      expect(await status('POST', `/repositories/${repositories.rocket}/comments`, 'sam')).toBe(201)
    })

    test('badges are granted by name, and are gone with the user', async () => {
      await forge.badges.catalogue.define('system', { slug: 'owl', description: 'Up late', imageUrl: '' })
      const badges = (name: string) => api(`/admin/users/${name}/badges`)
      const grant = await fetch(new URL(badges('zoe'), origin), {
        method: 'POST',
        headers: { authorization: 'token root-token', 'content-type': 'application/json' },
        body: JSON.stringify({ badge_slugs: ['owl'] }),
      })
      expect(grant.status).toBe(204)
      expect((await ask('GET', badges('zoe'), 'root')).body).toMatchObject([{ slug: 'owl' }])
      expect((await ask('GET', badges('MIA'), 'root')).body).toEqual([])
      await ask('DELETE', `/users/${idOf('zoe')}`, 'root')
      expect(await forge.badges.holders('system', { slug: 'owl' })).toMatchObject({ total: 0 })
    })

    test('what the application deletes takes along what concerns it', async () => {
      for (const number of [1, 2, 3, 9]) await ask('POST', api(`/repos/acme/rocket/issues/${number}/pin`), 'olga')
      await ask('POST', api('/repos/mia/notes/issues/1/pin'), 'mia')
      await ask('PUT', api('/orgs/acme/blocks/sam'), 'olga')
      const [second] = await database.run(
        `select id from issues where repository_id = '${repositories.rocket}' and number = 2`,
      )
      await ask('DELETE', `/issues/${second?.['id']}`)
      expect(await pinned('/repos/acme/rocket/issues/pinned')).toEqual(['1:1', '2:3'])

      await ask('DELETE', `/users/${idOf('olga')}`) // who pinned and blocked
      expect(await pinned('/repos/acme/rocket/issues/pinned')).toEqual(['1:1', '2:3'])
      expect((await ask('GET', api('/orgs/acme/blocks'), 'root')).body).toMatchObject([{ login: 'sam' }])

      await ask('DELETE', `/users/${idOf('mia')}`) // no key refers to the owner: the repository stays as an orphan
      expect(await status('GET', api('/repos/mia/notes/issues/pinned'), 'root')).toBe(404)
      await ask('DELETE', `/repositories/${repositories.notes}`)
      await ask('DELETE', `/repositories/${repositories.rocket}`)
      await ask('DELETE', `/organizations/${ACME}`)
      for (const table of ['board_pins', 'organization_blocks', 'user_grants']) {
        expect(await database.run(`select * from forgelet_${table}`)).toEqual([])
      }
    })

    test('its CSRF token is for its own routes; forgelet refuses other sites itself', async () => {
      const login = await fetch(new URL('/login', origin), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'olga' }),
      })
      const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';')
      const { csrf } = JSON.parse(await login.text())
      const comments = `/repositories/${repositories.rocket}/comments`
      expect(await status('POST', comments, undefined, { cookie })).toBe(403)
      expect(await status('POST', comments, undefined, { cookie, 'x-csrf-token': csrf })).toBe(201)

      const pin = api('/repos/acme/rocket/issues/1/pin')
      expect(await status('POST', pin, undefined, { cookie, origin: 'https://elsewhere.example.com' })).toBe(403)
      expect(await status('POST', pin, undefined, { cookie, origin })).toBe(204)
      expect(await status('POST', pin, undefined, { cookie: 'session=usr_unknown' })).toBe(401)
    })
  })
})
