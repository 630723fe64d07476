import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newDatabase, onDatabases, POSTGRES, SQLITE } from '../databases.ts'
import type { Place } from '../durability/switches.ts'
import { Switches } from '../durability/switches.ts'
import type { Connection } from '../http.ts'
import { ask, dial, freePort } from '../http.ts'
import { startForgeletProcess } from '../start-forgelet.ts'

// Real child processes of dist/cli.js, and clients that keep their connections, and go elsewhere when a server refuses a request.
// Any other end of a request is wrong: a connection that is reset, a change that is lost, or made though it was refused.

const LANES = 24
const GRANT = '{"badge_slugs":["owl"]}'

/** Sends the beginning of a request that changes something, and returns when the server has it. */
async function beginGrant(port: number): Promise<Connection> {
  const client = await dial(port)
  const headers = { authorization: 'token root', Expect: '100-continue', 'Content-Length': String(GRANT.length) }
  await client.send(ask('POST /api/v1/admin/users/u1/badges', headers))
  expect((await client.reply()).status).toBe(100)
  return client
}

onDatabases([SQLITE, POSTGRES], (_open, kind) => {
  test('a rolling restart of two processes under load fails no request but those refused', {
    timeout: 120_000,
  }, async () => {
    const database = await newDatabase(kind)
    const load = new Switches(LANES)
    const fixture = { ...load.fixture, badges: [{ slug: 'owl' }] }
    const start = (port: number) =>
      startForgeletProcess(['--db', database.url, '--port', String(port), '--max-pins', '1000'], { fixture })
    const ports = [await freePort(), await freePort()]
    const running = await Promise.all(ports.map(start))
    const places: Place[] = running.map(({ url }) => ({ url, is: 'up' }))
    load.start(places, ({ status }) => status === 503)
    try {
      for (const [at, port] of ports.entries()) {
        await load.more(60)
        // A request whose beginning has arrived keeps a server from ending before it has refused another.
        const begun = await beginGrant(port)
        const { refused } = load
        const [own, other] = [running[at]?.url ?? '', running[1 - at]?.url ?? '']
        places[at] = { url: own, is: 'changing' }
        const ended = running[at]?.stop('SIGTERM')
        while (load.refused === refused && load.wrong.length === 0) await pause(2)
        places[at] = { url: other, is: 'up' }
        await begun.send(GRANT)
        const { status, headers } = await begun.reply()
        expect([status, headers.get('connection')]).toEqual([204, 'close'])
        expect((await ended)?.code).toBe(0)
        running[at] = await start(port)
        places[at] = { url: own, is: 'up' }
      }
      await load.more(60)
    } finally {
      await load.stop()
    }
    expect(load.wrong).toEqual([])
    await load.expectAllIn(database.storage())
  })
})
