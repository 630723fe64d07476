import { afterAll, beforeAll, describe, test } from 'vitest'
import { newDatabase, onServer, SERVER_KINDS } from '../databases.ts'
import type { Connection, Reply } from '../http.ts'
import { ask, dial } from '../http.ts'
import { cases } from '../services.ts'
import type { Running } from '../start-forgelet.ts'
import { startForgelet } from '../start-forgelet.ts'
import { worldFixture } from '../world.ts'
import type { Ask, Who } from './cases/case.ts'
import { declaredBy } from './declared-replies.ts'
import type { Send } from './run-case.ts'
import { runCase, toSent } from './run-case.ts'

// The wire cases on forgelet serve, with every database, over HTTP. Left out are the cases whose host is set up differently, and
// those of the exchange, which expect the issues of another host (test/standalone/exchange).

const { exchange: _, ...sections } = cases
const usual = Object.entries(sections).flatMap(([section, list]) =>
  list.filter(({ world }) => world === undefined).map((given) => [`${section}: ${given.fact}`, given] as const),
)

/** Sends requests to a server. Links that start with the address of the server lose it. */
function sendTo(url: string): Send {
  let connection: Connection | undefined
  return async ({ method, path, headers, body }): Promise<Reply> => {
    connection ??= await dial(url)
    await connection.send(ask(`${method} ${new URL(url).pathname}${path}`, headers, body))
    const reply = await connection.reply(method)
    if (reply.headers.get('connection') !== 'keep-alive') connection = undefined
    const link = reply.headers.get('link')?.replaceAll(url + path.replace(/\?.*/, ''), '')
    return link === undefined ? reply : { ...reply, headers: new Map([...reply.headers, ['link', link]]) }
  }
}

/** Takes back what a case has changed. */
async function takeBack(send: Send): Promise<void> {
  const get = async (path: string, who: Who = 'root') => JSON.parse((await send(toSent([who, 'GET', path]))).text)
  const pinned = [...(await get('/repos/acme/rocket/issues/pinned')), ...(await get('/repos/acme/rocket/pulls/pinned'))]
  const asks: readonly Ask[] = [
    ...pinned.map(({ number }): Ask => ['root', 'DELETE', `/repos/acme/rocket/issues/${number}/pin`]),
    ...(await get('/orgs/acme/blocks')).map(
      ({ login }: { login: string }): Ask => ['root', 'DELETE', `/orgs/acme/blocks/${login}`],
    ),
    ...(await blocksBy('olga')),
    ...(await blocksBy('rita')),
    ['root', 'DELETE', '/admin/users/stan/badges', { badge_slugs: ['night-owl', 'founder'] }],
  ]
  for (const one of asks) await send(toSent(one))

  async function blocksBy(who: Who): Promise<readonly Ask[]> {
    const blocked = await get('/user/blocks', who)
    return blocked.map(({ login }: { login: string }): Ask => [who, 'DELETE', `/user/blocks/${login}`])
  }
}

function wireCases(name: string, database: () => Promise<string>): void {
  describe(`forgelet serve on ${name}`, () => {
    let running: Running
    let document: object

    beforeAll(async () => {
      running = await startForgelet(['--db', await database()], { fixture: worldFixture })
      document = JSON.parse(await (await fetch(`${running.url}/openapi.json`)).text())
    })
    afterAll(() => running.stop())

    test.each(usual)('%s', async (_fact, given) => {
      const send = sendTo(running.url)
      try {
        await runCase(given, declaredBy(document, send), true)
      } finally {
        if (given.before !== undefined || given.status === 204) await takeBack(send)
      }
    })
  })
}

wireCases('SQLite', async () => ':memory:')

const ends: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const end of ends) await end()
})
for (const kind of SERVER_KINDS) {
  onServer(kind.server, () =>
    wireCases(kind.server.name, async () => (await newDatabase(kind, { atEnd: (end) => void ends.unshift(end) })).url),
  )
}
