import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { onDatabase, POSTGRES } from '../databases.ts'
import { RunningHost, testGlue } from './running-host.ts'
import { JOINING, openTracker, TABLES } from './tracker/application.ts'

// A project tracker whose tables are its own (tracker/), with forgelet beside them, over HTTP and by its own SQL.

testGlue(resolve(import.meta.dirname, 'tracker/glue.ts'))

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
  const host = new RunningHost(
    [...TABLES, ...ROWS],
    async (pool) => {
      const { database, forge, server } = await openTracker(pool)
      return { forge, server, end: () => forge.close().finally(() => database.destroy()) }
    },
    'Bearer',
  )
  const ROADMAP = '/api/v1/repos/acme/roadmap'
  const BLOCKS = '/api/v1/orgs/acme/blocks'
  const pin = (number: number, who = 'root') => host.status('POST', `${ROADMAP}/issues/${number}/pin`, who)
  const pinned = () => host.pinned(`${ROADMAP}/issues/pinned`, 'mia')
  const blocked = async () =>
    (await host.ask('GET', BLOCKS, 'olga')).body.map(({ login }: Record<string, unknown>) => login)

  test('who may see and pin is what its visibilities and members say', async () => {
    const seen = (name: string, who?: string) => host.status('GET', `/api/v1/repos/acme/${name}/issues/pinned`, who)
    expect(await Promise.all([seen('handbook'), seen('handbook', 'sam'), seen('roadmap', 'sam')])).toEqual([
      404, 200, 404,
    ])
    expect(await Promise.all([seen('roadmap', 'mia'), seen('salaries', 'mia'), seen('salaries', 'olga')])).toEqual([
      200, 404, 200,
    ])
    await host.rows(`insert into project_people values ('${projects.salaries}', '${idOf('mia')}')`)
    expect(await seen('salaries', 'mia')).toBe(200)
    expect(await host.status('GET', BLOCKS, 'sam')).toBe(404)
    expect(await host.status('GET', BLOCKS, 'mia')).toBe(403)
    await host.rows(`update identity.memberships set left_at = now() where person_id = '${idOf('mia')}'`)
    expect(await seen('roadmap', 'mia')).toBe(404)

    expect([await pin(1, 'mia'), await pin(1, 'olga'), await pin(2), await pin(3), await pin(4)]).toEqual([
      404, 204, 204, 204, 400,
    ])
    expect(await host.status('POST', `${ROADMAP}/issues/99999999999/pin`, 'olga')).toBe(404)
    expect((await host.ask('GET', `${ROADMAP}/issues/pinned`, 'olga')).body[0]).toMatchObject({
      id: task(1),
      title: 'Task 1',
      state: 'open',
      user: { login: 'mia' },
      pin_order: 1,
    })
  })

  test('a task in the trash leaves its position to others, and takes it again', async () => {
    for (const number of [1, 2, 3]) expect(await pin(number)).toBe(204)
    await host.ask('POST', `/tasks/${task(2)}/trash`)
    expect(await pinned()).toEqual(['1:1', '2:3'])
    expect(await pin(2)).toBe(404)
    await host.ask('POST', `/tasks/${task(2)}/restore`)
    expect(await pinned()).toEqual(['1:1', '2:2', '3:3'])
    await host.ask('POST', `/tasks/${task(2)}/trash`)
    expect(await pin(4)).toBe(204)
    await host.ask('POST', `/tasks/${task(2)}/restore`) // one more than may be pinned: none is lost, and none is added
    expect(await pinned()).toEqual(['1:1', '2:2', '3:3', '4:4'])
    expect(await pin(5)).toBe(400)
  })

  test('a project in the trash is hidden with its pins', async () => {
    expect(await pin(1)).toBe(204)
    await host.ask('POST', `/projects/${projects.roadmap}/trash`)
    expect(await host.status('GET', `${ROADMAP}/issues/pinned`, 'olga')).toBe(404)
    await host.ask('POST', `/projects/${projects.roadmap}/restore`)
    expect(await pinned()).toEqual(['1:1'])
  })

  test('who is deleted softly is blocked, decorated and found again when restored, and not when purged', async () => {
    await host.running.forge.badges.catalogue.define('system', { slug: 'owl', description: 'Up late', imageUrl: '' })
    await host.running.forge.badges.grant('system', { userId: idOf('sam'), slugs: ['owl'] })
    expect(await host.status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
    expect(await host.status('PUT', `${BLOCKS}/mia`, 'olga')).toBe(422)
    expect(await pin(1, 'olga')).toBe(204)

    for (const name of ['sam', 'olga', 'mia'] as const) await host.ask('DELETE', `/people/${idOf(name)}`)
    expect(await host.status('GET', BLOCKS, 'olga')).toBe(401)
    expect((await host.ask('GET', BLOCKS, 'root')).body).toEqual([])
    expect(await host.status('GET', '/api/v1/admin/users/sam/badges', 'root')).toBe(404)
    expect((await host.ask('GET', `${ROADMAP}/issues/pinned`, 'root')).body).toMatchObject([{ number: 1, user: null }])

    for (const name of ['sam', 'olga', 'mia'] as const) await host.ask('POST', `/people/${idOf(name)}/restore`)
    expect(await blocked()).toEqual(['sam'])
    expect((await host.ask('GET', '/api/v1/admin/users/sam/badges', 'root')).body).toMatchObject([{ slug: 'owl' }])
    await host.ask('POST', `/people/${idOf('sam')}/purge`)
    expect(await blocked()).toEqual([])
    expect(await host.running.forge.badges.holders('system', { slug: 'owl' })).toMatchObject({ total: 0 })
  })

  test.each(JOINING)('whom the organization blocks does not become a member by %s', async (_name, statements) => {
    expect(await host.status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
    const join = async () => {
      for (const statement of statements(acme, idOf('sam'))) await host.rows(statement)
    }
    await expect(join()).rejects.toMatchObject({ code: '23514' })
    expect(await host.status('DELETE', `${BLOCKS}/sam`, 'olga')).toBe(204)
    await join()
    expect(await host.status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(422)
    await host.rows(`update identity.memberships set left_at = now() where person_id = '${idOf('sam')}'`)
    expect(await host.status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
  })

  test('what the application deletes takes along what concerns it, through workspaces in workspaces', async () => {
    for (const number of [1, 2]) expect(await pin(number)).toBe(204)
    expect(await host.status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
    await host.ask('DELETE', `/workspaces/${outer}`)
    expect(await host.rows('select * from forgelet_board_pins')).toEqual([])
    expect(await blocked()).toEqual(['sam'])
    await host.ask('DELETE', `/organizations/${acme}`)
    expect(await host.rows('select * from forgelet_organization_blocks')).toEqual([])
  })
})
