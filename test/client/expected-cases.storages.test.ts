import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { RequestListener } from '../../src/cli/json-server.ts'
import { openStandalone } from '../../src/standalone/standalone.ts'
import { cases } from '../http-adapters/cases.ts'
import { replyOf } from './wire-reply.ts'
import { wireWorld } from './wire-world.ts'

// Every wire case with its own expectations against the listener of `forgelet serve`, on SQLite, each in a fresh database.
// wire-cases.servers.test.ts compares the servers with SQLite. Left out are the cases whose host is set up differently, and
// those of the exchange, which expect the issues of another host.

const WORLD = wireWorld((index) => `${index > 5 ? 'pullRequest' : 'issue'} ${index}`)

/** Serves the world on a free port, until the test ends. */
async function serveWorld(): Promise<string> {
  const host = await openStandalone({ db: ':memory:', fixture: WORLD })
  const listener = new RequestListener()
  listener.open(host, { logger: console })
  const server = createServer((request, response) => listener.receive(request, response)).listen(0, '127.0.0.1')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await host.close()
  })
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/api/v1`
}

/** An account of this host is never deleted. */
const NO_USER = 'a blocked user that is gone'

const { exchange: _, ...sections } = cases
const usual = Object.entries(sections).flatMap(([section, list]) =>
  list
    .filter((one) => one.world === undefined && !one.fact.includes(NO_USER))
    .map((one) => [`${section}: ${one.fact}`, one] as const),
)

describe('forgelet serve on SQLite', () => {
  test.each(usual)('%s', async (_fact, { before = [], ask, headers, status, expected = {}, after }) => {
    const url = await serveWorld()
    for (const one of before) expect((await replyOf(url, one)).status).toBe(204)
    const reply = await replyOf(url, ask, headers)
    const { text } = reply

    expect([reply.status, text]).toEqual([status, expected.text ?? text])
    const { code, message, violations, json } = expected
    const error = { ...(code && { code }), ...(message && { message }) }
    if (code !== undefined || message !== undefined) expect(JSON.parse(text)).toMatchObject(error)
    if (violations !== undefined) {
      expect(JSON.parse(text)).toMatchObject({ violations: violations.map((pointer) => ({ pointer })) })
    }
    if (json !== undefined) expect(JSON.parse(text)).toMatchObject(Object(json))
    for (const [name, value] of Object.entries(expected.headers ?? {})) {
      expect([name, reply.headers[name] ?? null]).toEqual([name, value])
    }
    if (after === undefined) return
    expect(JSON.parse((await replyOf(url, ['root', 'GET', after[0]])).text)).toMatchObject(Object(after[1]))
  })
})
