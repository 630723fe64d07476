import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase, onDatabase, POSTGRES } from '../databases.ts'
import { listening } from '../http.ts'
import { hostPool } from '../storage/client-kinds.ts'
import { openTracker, TABLES } from './tracker/application.ts'

// A project tracker whose tables are its own (tracker/), with forgelet beside them, over HTTP and by its own SQL.

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
const ROADMAP = '/api/v1/repos/acme/roadmap'
const BLOCKS = '/api/v1/orgs/acme/blocks'

/** The application, running on a database of its own. */
async function opened() {
  const { host, url } = await newDatabase(POSTGRES)
  for (const statement of [...TABLES, ...ROWS]) await host.run(statement)
  const { database, forge, server } = await openTracker(hostPool(url))
  onTestFinished(() => forge.close().finally(() => database.destroy()))
  const { origin, stop } = await listening(server)
  onTestFinished(stop)
  const ask = async (method: string, path: string, who?: string) => {
    const headers = who === undefined ? {} : { authorization: `Bearer ${who}-token` }
    const reply = await fetch(new URL(path, origin), { method, headers })
    const text = await reply.text()
    return { status: reply.status, body: /^[[{]/.test(text) ? JSON.parse(text) : text }
  }
  const listed = async (path: string, who: string, show: (row: Record<string, unknown>) => unknown) =>
    (await ask('GET', path, who)).body.map(show)
  return {
    run: host.run,
    forge,
    ask,
    status: async (method: string, path: string, who?: string) => (await ask(method, path, who)).status,
    pin: async (number: number, who = 'root') => (await ask('POST', `${ROADMAP}/issues/${number}/pin`, who)).status,
    pinned: () => listed(`${ROADMAP}/issues/pinned`, 'mia', ({ number, pin_order }) => `${pin_order}:${number}`),
    blocked: () => listed(BLOCKS, 'olga', ({ login }) => login),
  }
}

onDatabase(POSTGRES, () => {
  test('who may see and pin is what its visibilities and members say', async () => {
    const { run, ask, status, pin } = await opened()
    const seen = (name: string, who?: string) => status('GET', `/api/v1/repos/acme/${name}/issues/pinned`, who)
    expect(await Promise.all([seen('handbook'), seen('handbook', 'sam'), seen('roadmap', 'sam')])).toEqual([
      404, 200, 404,
    ])
    expect(await Promise.all([seen('roadmap', 'mia'), seen('salaries', 'mia'), seen('salaries', 'olga')])).toEqual([
      200, 404, 200,
    ])
    await run(`insert into project_people values ('${projects.salaries}', '${idOf('mia')}')`)
    expect(await seen('salaries', 'mia')).toBe(200)
    expect(await status('GET', BLOCKS, 'sam')).toBe(404)
    expect(await status('GET', BLOCKS, 'mia')).toBe(403)
    await run(`update identity.memberships set left_at = now() where person_id = '${idOf('mia')}'`)
    expect(await seen('roadmap', 'mia')).toBe(404)

    expect([await pin(1, 'mia'), await pin(1, 'olga'), await pin(2), await pin(3), await pin(4)]).toEqual([
      404, 204, 204, 204, 400,
    ])
    expect((await ask('GET', `${ROADMAP}/issues/pinned`, 'olga')).body[0]).toMatchObject({
      id: task(1),
      title: 'Task 1',
      state: 'open',
      user: { login: 'mia' },
      pin_order: 1,
    })
  })

  test('a task in the trash leaves its position to others, and takes it again; a project hides its pins', async () => {
    const { ask, status, pin, pinned } = await opened()
    for (const number of [1, 2, 3]) expect(await pin(number)).toBe(204)
    await ask('POST', `/tasks/${task(2)}/trash`)
    expect(await pinned()).toEqual(['1:1', '2:3'])
    expect(await pin(2)).toBe(404)
    expect(await pin(4)).toBe(204)
    await ask('POST', `/tasks/${task(2)}/restore`) // one more than may be pinned: none is lost, and none is added
    expect(await pinned()).toEqual(['1:1', '2:2', '3:3', '4:4'])
    expect(await pin(5)).toBe(400)

    await ask('POST', `/projects/${projects.roadmap}/trash`)
    expect(await status('GET', `${ROADMAP}/issues/pinned`, 'olga')).toBe(404)
    await ask('POST', `/projects/${projects.roadmap}/restore`)
    expect(await pinned()).toHaveLength(4)
  })

  test('who is deleted softly is blocked, decorated and found again when restored, and not when purged', async () => {
    const { forge, ask, status, pin, blocked } = await opened()
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

  test('whom the organization blocks does not become a member by returning, and may be blocked after leaving', async () => {
    const { run, status } = await opened()
    const leave = `update identity.memberships set left_at = now() where person_id = '${idOf('sam')}'`
    const comeBack = () => run(`update identity.memberships set left_at = null where person_id = '${idOf('sam')}'`)
    await run(`insert into identity.memberships (organization_id, person_id) values ('${acme}', '${idOf('sam')}')`)
    expect(await status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(422)
    await run(leave)
    expect(await status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
    await expect(comeBack()).rejects.toMatchObject({ code: '23514' })
    expect(await status('DELETE', `${BLOCKS}/sam`, 'olga')).toBe(204)
    await comeBack()
    expect(await status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(422)
  })

  test('what the application deletes takes along what concerns it, through workspaces in workspaces', async () => {
    const { run, ask, status, pin, blocked } = await opened()
    for (const number of [1, 2]) expect(await pin(number)).toBe(204)
    expect(await status('PUT', `${BLOCKS}/sam`, 'olga')).toBe(204)
    await ask('DELETE', `/workspaces/${outer}`)
    expect(await run('select * from forgelet_board_pins')).toEqual([])
    expect(await blocked()).toEqual(['sam'])
    await ask('DELETE', `/organizations/${acme}`)
    expect(await run('select * from forgelet_organization_blocks')).toEqual([])
  })
})
