import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import pg from 'pg'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { KnownHost } from '../../app/testing/testing.ts'
import { mountContract } from '../../app/testing/testing.ts'
import type { TestDatabase } from '../databases.ts'
import { newDatabase, onDatabase, POSTGRES } from '../databases.ts'
import { listening } from '../http.ts'
import type { Tracker } from './tracker/application.ts'
import { JOINING, openTracker, TABLES } from './tracker/application.ts'

// A project tracker whose tables are its own (tracker/), with forgelet beside them, over HTTP and by its own SQL.

const GLUE = resolve(import.meta.dirname, 'tracker/glue.ts')

const KNOWN: KnownHost = {
  services: ['pins', 'blocks', 'badges'],
  authorization: 'Bearer root-token',
  organization: 'acme',
  users: ['sam', 'zoe'],
  elsewhere: [{ path: '/', text: 'the tracker' }],
}

const people = ['root', 'olga', 'mia', 'sam', 'zoe'] as const
const ids = new Map<string, string>(people.map((name) => [name, randomUUID()]))
const idOf = (name: (typeof people)[number]): string => ids.get(name) ?? ''
const acme = randomUUID()
const [outer, inner] = [randomUUID(), randomUUID()]
const projects = { roadmap: randomUUID(), salaries: randomUUID(), handbook: randomUUID() }
const tasks = [1, 2, 3, 4, 5].map((number) => ({ number, id: randomUUID() }))
const task = (number: number): string => tasks[number - 1]?.id ?? ''

/** Olga owns acme, and mia is a member. Its projects are in a workspace within a workspace. Someone has no handle. */
const ROWS: readonly string[] = [
  `insert into identity.people (id, handle, name, email, token, is_operator) values
    ${people.map((name) => `('${idOf(name)}', '${name}', '${name}', '${name}@example.com', '${name}-token', ${name === 'root'})`).join()}`,
  "insert into identity.people (name, email) values ('No One', 'noone@example.com')",
  `insert into organizations values ('${acme}', 'acme')`,
  `insert into identity.memberships (organization_id, person_id, role) values ('${acme}', '${idOf('olga')}', 'OWNER'), ('${acme}', '${idOf('mia')}', 'MEMBER')`,
  `insert into workspaces values ('${outer}', '${acme}', null, 'Everything'), ('${inner}', null, '${outer}', 'Product')`,
  `insert into projects values ('${projects.roadmap}', '${inner}', 'roadmap', 'INTERNAL'), ('${projects.salaries}', '${inner}', 'salaries', 'PRIVATE'),
    ('${projects.handbook}', '${outer}', 'handbook', 'PUBLIC')`,
  `insert into tasks (id, project_id, number, title, author_id) values ${tasks.map(({ id, number }) => `('${id}', '${projects.roadmap}', ${number}, 'Task ${number}', '${idOf('mia')}')`).join()}`,
]

onDatabase(POSTGRES, () => {
  let database: TestDatabase
  let forge: Tracker['forge']
  let origin: string
  let ends: (() => Promise<void>)[] = []

  beforeAll(() => () => Promise.all(ends.map((end) => end())))
  const open = async () => {
    for (const end of ends.reverse()) await end()
    ends = []
    database = await newDatabase(POSTGRES, { atEnd: (end) => void ends.push(end) })
    for (const statement of [...TABLES, ...ROWS]) await database.run(statement)
    const pool = new pg.Pool({ connectionString: database.url })
    pool.on('error', () => undefined) // the database goes before its last connection
    pool.on('connect', (client) => void client.on('error', () => undefined))
    const opened = await openTracker(pool)
    forge = opened.forge
    ends.push(() => opened.database.destroy())
    ends.push(() => forge.close())
    const running = await listening(opened.server)
    ends.push(() => running.stop())
    origin = running.origin
  }

  const ask = async (method: string, path: string, who?: string) => {
    const headers: Record<string, string> = who === undefined ? {} : { authorization: `Bearer ${who}-token` }
    const reply = await fetch(new URL(path, origin), { method, headers })
    const text = await reply.text()
    return { status: reply.status, body: /^[[{]/.test(text) ? JSON.parse(text) : text }
  }
  const status = async (...args: Parameters<typeof ask>) => (await ask(...args)).status
  const ROADMAP = '/api/v1/repos/acme/roadmap'
  const BLOCKS = '/api/v1/orgs/acme/blocks'
  const pin = (number: number, who = 'root') => status('POST', `${ROADMAP}/issues/${number}/pin`, who)
  const pinned = async () =>
    (await ask('GET', `${ROADMAP}/issues/pinned`, 'mia')).body.map(
      ({ number, pin_order }: Record<string, unknown>) => `${pin_order}:${number}`,
    )
  const blocked = async () => (await ask('GET', BLOCKS, 'olga')).body.map(({ login }: Record<string, unknown>) => login)

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
      const seen = (name: string, who?: string) => status('GET', `/api/v1/repos/acme/${name}/issues/pinned`, who)
      expect(await Promise.all([seen('handbook'), seen('handbook', 'sam'), seen('roadmap', 'sam')])).toEqual([
        404, 200, 404,
      ])
      expect(await Promise.all([seen('roadmap', 'mia'), seen('salaries', 'mia'), seen('salaries', 'olga')])).toEqual([
        200, 404, 200,
      ])
      await database.run(`insert into project_people values ('${projects.salaries}', '${idOf('mia')}')`)
      expect(await seen('salaries', 'mia')).toBe(200)
      expect(await status('GET', BLOCKS, 'sam')).toBe(404)
      expect(await status('GET', BLOCKS, 'mia')).toBe(403)
      await database.run(`update identity.memberships set left_at = now() where person_id = '${idOf('mia')}'`)
      expect(await seen('roadmap', 'mia')).toBe(404)

      expect([await pin(1, 'mia'), await pin(1, 'olga'), await pin(2), await pin(3), await pin(4)]).toEqual([
        404, 204, 204, 204, 400,
      ])
      expect(await status('POST', `${ROADMAP}/issues/99999999999/pin`, 'olga')).toBe(404)
      expect((await ask('GET', `${ROADMAP}/issues/pinned`, 'olga')).body[0]).toMatchObject({
        id: task(1),
        title: 'Task 1',
        state: 'open',
        user: { login: 'mia' },
        pin_order: 1,
      })
    })

    test('a task in the trash leaves its position to others, and takes it again', async () => {
      for (const number of [1, 2, 3]) expect(await pin(number)).toBe(204)
      await ask('POST', `/tasks/${task(2)}/trash`)
      expect(await pinned()).toEqual(['1:1', '2:3'])
      expect(await pin(2)).toBe(404)
      await ask('POST', `/tasks/${task(2)}/restore`)
      expect(await pinned()).toEqual(['1:1', '2:2', '3:3'])
      await ask('POST', `/tasks/${task(2)}/trash`)
      expect(await pin(4)).toBe(204)
      await ask('POST', `/tasks/${task(2)}/restore`) // one more than may be pinned: none is lost, and none is added
      expect(await pinned()).toEqual(['1:1', '2:2', '3:3', '4:4'])
      expect(await pin(5)).toBe(400)
    })

    test('a project in the trash is hidden with its pins', async () => {
      expect(await pin(1)).toBe(204)
      await ask('POST', `/projects/${projects.roadmap}/trash`)
      expect(await status('GET', `${ROADMAP}/issues/pinned`, 'olga')).toBe(404)
      await ask('POST', `/projects/${projects.roadmap}/restore`)
      expect(await pinned()).toEqual(['1:1'])
    })

    test('who is deleted softly is blocked, decorated and found again when restored, and not when purged', async () => {
      await forge.badges.catalogue.define('system', { slug: 'owl', description: 'Up late', imageUrl: '' })
      await forge.badges.grant('system', { userId: idOf('sam'), slugs: ['owl'] })
      expect(await status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
      expect(await status('PUT', `${BLOCKS}/mia`, 'olga')).toBe(422)
      expect(await pin(1, 'olga')).toBe(204)

      for (const name of ['sam', 'olga', 'mia'] as const) await ask('DELETE', `/people/${idOf(name)}`)
      expect(await status('GET', BLOCKS, 'olga')).toBe(401)
      expect((await ask('GET', BLOCKS, 'root')).body).toEqual([])
      expect(await status('GET', '/api/v1/admin/users/sam/badges', 'root')).toBe(404)
      expect((await ask('GET', `${ROADMAP}/issues/pinned`, 'root')).body).toMatchObject([{ number: 1, user: null }])

      for (const name of ['sam', 'olga', 'mia'] as const) await ask('POST', `/people/${idOf(name)}/restore`)
      expect(await blocked()).toEqual(['sam'])
      expect((await ask('GET', '/api/v1/admin/users/sam/badges', 'root')).body).toMatchObject([{ slug: 'owl' }])
      await ask('POST', `/people/${idOf('sam')}/purge`)
      expect(await blocked()).toEqual([])
      expect(await forge.badges.holders('system', { slug: 'owl' })).toMatchObject({ total: 0 })
    })

    test.each(JOINING)('whom the organization blocks does not become a member by %s', async (_name, statements) => {
      expect(await status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
      const join = async () => {
        for (const statement of statements(acme, idOf('sam'))) await database.run(statement)
      }
      await expect(join()).rejects.toMatchObject({ code: '23514' })
      expect(await status('DELETE', `${BLOCKS}/sam`, 'olga')).toBe(204)
      await join()
      expect(await status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(422)
      await database.run(`update identity.memberships set left_at = now() where person_id = '${idOf('sam')}'`)
      expect(await status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
    })

    test('what the application deletes takes along what concerns it, through workspaces in workspaces', async () => {
      for (const number of [1, 2]) expect(await pin(number)).toBe(204)
      expect(await status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
      await ask('DELETE', `/workspaces/${outer}`)
      expect(await database.run('select * from forgelet_board_pins')).toEqual([])
      expect(await blocked()).toEqual(['sam'])
      await ask('DELETE', `/organizations/${acme}`)
      expect(await database.run('select * from forgelet_organization_blocks')).toEqual([])
    })
  })
})
