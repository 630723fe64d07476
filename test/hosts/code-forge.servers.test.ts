import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { onDatabase, POSTGRES } from '../databases.ts'
import { JOINING, newId, openCodeForge, TABLES } from './code-forge/application.ts'
import { RunningHost, testGlue } from './running-host.ts'

// A code forge whose tables are its own (code-forge/), with forgelet beside them, over HTTP and by its own SQL. Its mount is that of
// Express, which is in test/http-adapters/frameworks.test.ts.

testGlue(resolve(import.meta.dirname, 'code-forge/glue.ts'))

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
  const host = new RunningHost(
    [...TABLES, ...ROWS],
    async (pool) => {
      const { app, forge } = await openCodeForge(pool)
      return { forge, server: createServer(app), end: () => forge.close().finally(() => pool.end()) }
    },
    'token',
  )
  const running = () => host.running
  const api = (path: string) => `/api/v1${path}`

  test('who may see and pin is what its visibilities and members say', async () => {
    const seen = (name: string, who?: string) => host.status('GET', api(`/repos/acme/${name}/issues/pinned`), who)
    expect(await Promise.all([seen('rocket'), seen('shared'), seen('secret')])).toEqual([200, 404, 404])
    expect(await Promise.all([seen('shared', 'sam'), seen('secret', 'sam')])).toEqual([200, 404])
    expect(await Promise.all([seen('secret', 'bot'), seen('secret', 'root')])).toEqual([200, 200])

    const pin = (path: string, who?: string) => host.status('POST', api(`/repos/${path}/pin`), who)
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
    const pin = (number: number) => host.status('POST', api(`/repos/acme/rocket/issues/${number}/pin`), 'olga')
    expect([await pin(1), await pin(9)]).toEqual([204, 204])
    const olga = { id: idOf('olga'), isAdmin: false }
    const [pull] = await host.rows(
      `select id from pull_requests where repository_id = '${repositories.rocket}' and number = 1`,
    )
    const ref = { id: String(pull?.['id']), repositoryId: repositories.rocket, kind: 'pullRequest' } as const
    await running().forge.pins.pin(olga, ref)
    expect(await host.pinned('/api/v1/repos/acme/rocket/issues/pinned')).toEqual(['1:1'])
    expect(await host.pinned('/api/v1/repos/acme/rocket/pulls/pinned')).toEqual(['1:9', '2:1'])
    await host.rows(`delete from pull_requests where id = '${ref.id}'`)
    expect(await host.pinned('/api/v1/repos/acme/rocket/pulls/pinned')).toEqual(['1:9'])
  })

  test('names are compared exactly, and a user and an organization may share one', async () => {
    expect(await host.status('PUT', api('/orgs/acme/blocks/MIA'), 'olga')).toBe(204)
    expect(await host.status('GET', api('/orgs/acme/blocks/mia'), 'olga')).toBe(404)
    expect(await host.status('GET', api('/orgs/acme/blocks/MIA'), 'olga')).toBe(204)
    expect(await host.status('PUT', api('/orgs/acme/blocks/zoe'), 'olga')).toBe(204)
    expect((await host.ask('GET', api('/orgs/acme/blocks'), 'olga')).body).toMatchObject([
      { login: 'MIA', id: idOf('MIA'), email: 'MIA@example.com' },
      { login: 'zoe' },
    ])
    expect(await host.status('GET', api('/orgs/zoe/blocks'), 'olga')).toBe(200)
    expect(await host.status('PUT', api('/orgs/acme/blocks/acme'), 'olga')).toBe(422)
  })

  test.each(JOINING)('whom the organization blocks does not become a member by $name', async ({ join }) => {
    const block = api('/orgs/acme/blocks/sam')
    expect(await host.status('PUT', block, 'olga')).toBe(204)
    await expect(join(running().pool, running().database.url, ACME, idOf('sam'))).rejects.toMatchObject({
      code: '23514',
    })
    expect(await host.status('POST', `/repositories/${repositories.rocket}/comments`, 'sam')).toBe(403)
    expect(await host.status('DELETE', block, 'olga')).toBe(204)
    await host.rows('delete from group_users')
    await join(running().pool, running().database.url, ACME, idOf('sam'))
    expect(await host.ask('PUT', block, 'olga')).toMatchObject({ status: 422 })
    expect(await host.status('POST', `/repositories/${repositories.rocket}/comments`, 'sam')).toBe(201)
  })

  test('what the application deletes takes along what concerns it', async () => {
    for (const number of [1, 2, 3, 9]) await host.ask('POST', api(`/repos/acme/rocket/issues/${number}/pin`), 'olga')
    await host.ask('POST', api('/repos/mia/notes/issues/1/pin'), 'mia')
    await host.ask('PUT', api('/orgs/acme/blocks/sam'), 'olga')
    const [second] = await host.rows(
      `select id from issues where repository_id = '${repositories.rocket}' and number = 2`,
    )
    await host.ask('DELETE', `/issues/${second?.['id']}`)
    expect(await host.pinned('/api/v1/repos/acme/rocket/issues/pinned')).toEqual(['1:1', '2:3'])

    await host.ask('DELETE', `/users/${idOf('olga')}`) // who pinned and blocked
    expect(await host.pinned('/api/v1/repos/acme/rocket/issues/pinned')).toEqual(['1:1', '2:3'])
    expect((await host.ask('GET', api('/orgs/acme/blocks'), 'root')).body).toMatchObject([{ login: 'sam' }])

    await host.ask('DELETE', `/users/${idOf('mia')}`) // no key refers to the owner: the repository stays as an orphan
    expect(await host.status('GET', api('/repos/mia/notes/issues/pinned'), 'root')).toBe(404)
    await host.ask('DELETE', `/repositories/${repositories.notes}`)
    await host.ask('DELETE', `/repositories/${repositories.rocket}`)
    await host.ask('DELETE', `/organizations/${ACME}`)
    for (const table of ['board_pins', 'organization_blocks', 'user_grants']) {
      expect(await host.rows(`select * from forgelet_${table}`)).toEqual([])
    }
  })

  test('its CSRF token is for its own routes; forgelet refuses other sites itself', async () => {
    const login = await host.ask('POST', '/login', undefined, {}, { username: 'olga' })
    const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';')
    const { csrf } = login.body
    const comments = `/repositories/${repositories.rocket}/comments`
    expect(await host.status('POST', comments, undefined, { cookie })).toBe(403)
    expect(await host.status('POST', comments, undefined, { cookie, 'x-csrf-token': csrf })).toBe(201)

    const pin = api('/repos/acme/rocket/issues/1/pin')
    expect(await host.status('POST', pin, undefined, { cookie, origin: 'https://elsewhere.example.com' })).toBe(403)
    expect(await host.status('POST', pin, undefined, { cookie, origin: host.origin })).toBe(204)
    expect(await host.status('POST', pin, undefined, { cookie: 'session=usr_unknown' })).toBe(401)
  })
})
