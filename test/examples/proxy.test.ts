// examples/many-processes/proxy.mjs before servers that answer as a process of forgelet does.
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunningExample } from './running-example.ts'
import { startExample } from './running-example.ts'

/** A server behind the proxy, and what it received. */
class Behind {
  readonly received: string[] = []
  readonly #server: Server
  /** What it answers to all but probes. */
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => void response.end('served')
  isReady = true

  constructor() {
    this.#server = createServer(async (request, response) => {
      if (request.url === '/readyz') {
        response.writeHead(this.isReady ? 200 : 503).end()
        return
      }
      const body = await buffer(request)
      this.received.push(`${request.method} ${request.url} ${body.length}`)
      this.answer(request, response)
    })
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }

  /** As a process that shuts down: it begins nothing new. */
  refuse(): void {
    this.isReady = false
    this.answer = (_, response) => void response.writeHead(503, { connection: 'close' }).end('refused')
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

let servers: readonly [Behind, Behind]
let proxy: RunningExample

beforeEach(async () => {
  servers = [new Behind(), new Behind()]
  proxy = await startExample('many-processes/proxy.mjs', {}, await Promise.all(servers.map((one) => one.listen())))
})

afterEach(async () => {
  await proxy.stop()
  for (const server of servers) server.stop()
})

async function send(method: string, path: string, body?: string): Promise<readonly [status: number, text: string]> {
  const response = await fetch(new URL(path, proxy.url), { method, ...(body !== undefined && { body }) })
  return [response.status, await response.text()]
}

function counts(): readonly number[] {
  return servers.map(({ received }) => received.length)
}

test('the servers take turns, and receive requests as they were sent', async () => {
  for (const n of [1, 2, 3, 4]) expect(await send('POST', `/a?n=${n}`, 'x'.repeat(n))).toEqual([200, 'served'])
  expect(counts()).toEqual([2, 2])
  expect(servers.flatMap(({ received }) => received).sort()).toEqual([1, 2, 3, 4].map((n) => `POST /a?n=${n} ${n}`))
})

test('a request that a server refuses goes to the other with its body, and later requests too', async () => {
  servers[0].refuse()
  for (const _ of [1, 2, 3, 4]) expect(await send('DELETE', '/a', 'body')).toEqual([200, 'served'])
  expect(servers[0].received.length).toBeLessThanOrEqual(1)
  expect(servers[1].received).toEqual(Array(4).fill('DELETE /a 4'))
})

test('a server that is ready again receives requests again', async () => {
  const { answer } = servers[0]
  servers[0].refuse()
  for (const _ of [1, 2]) await send('GET', '/a')
  Object.assign(servers[0], { answer, isReady: true })
  servers[0].received.length = 0
  await expect.poll(async () => [await send('GET', '/a'), counts()[0]], { timeout: 5000 }).toEqual([[200, 'served'], 1])
})

test('a long body is passed on whole, and its request is sent once', async () => {
  const body = 'x'.repeat(300_000)
  expect(await send('POST', '/a', body)).toEqual([200, 'served'])
  for (const server of servers)
    server.answer = (_, response) => void response.writeHead(503, { connection: 'close' }).end('refused')
  expect(await send('POST', '/a', body)).toEqual([503, 'refused'])
  expect(servers.flatMap(({ received }) => received)).toEqual(Array(2).fill('POST /a 300000'))
})

test('every other answer goes to the client, with its headers', async () => {
  for (const server of servers) {
    server.answer = (_, response) => void response.writeHead(503, { 'retry-after': '7', 'x-count': '1' }).end('busy')
  }
  const response = await fetch(new URL('/a', proxy.url))
  expect([response.status, response.headers.get('retry-after'), response.headers.get('x-count')]).toEqual([
    503,
    '7',
    '1',
  ])
  expect(counts().toSorted()).toEqual([0, 1])
})

test('a server that is gone is passed over, and a change whose answer is lost is not repeated', async () => {
  for (const server of servers) server.answer = (request) => void request.socket.destroy()
  expect((await send('POST', '/a', 'body'))[0]).toBe(502)
  expect(counts().toSorted()).toEqual([0, 1])

  servers[1].answer = (_, response) => void response.end('served')
  for (const _ of [1, 2]) expect(await send('GET', '/a')).toEqual([200, 'served'])
  servers[0].stop()
  for (const _ of [1, 2]) expect(await send('POST', '/a', 'body')).toEqual([200, 'served'])
})
