import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { MAX_WAITING_REQUESTS } from '../../src/cli/connections.ts'
import { createJsonServer } from '../../src/cli/json-server.ts'
import { openStandalone } from '../../src/standalone/standalone.ts'
import { newDatabase, SQLITE } from '../databases.ts'
import { dial, exchange } from '../http.ts'
import type { Running } from '../start-forgelet.ts'
import { startForgelet, startForgeletProcess } from '../start-forgelet.ts'
import { issueRecord } from '../world.ts'

// Clients that send what is not HTTP, or ask for much and read nothing.

const fixture = resolve(import.meta.dirname, '../../demo/fixture.json')
const VERSION = 'GET /api/v1/version HTTP/1.1\r\n'
const BADGES = 'POST /api/v1/admin/users/mia/badges HTTP/1.1\r\nHost: x\r\nAuthorization: token alice-token\r\n'
const BUNDLE = 'GET /api/swagger/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

describe('forgelet serve', () => {
  let running: Running

  beforeAll(async () => {
    running = await startForgelet(['--db', ':memory:', '--fixture', fixture])
    return async () => void (await running.stop())
  })

  test.each([
    ['headers over 16 KB', `${VERSION}Host: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ['a request without a Host', `${VERSION}\r\n`, 400, 'BAD_REQUEST'],
    ['a bad chunk', `${BADGES}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400, 'BAD_REQUEST'],
    [
      'a chunk with endless extensions',
      `${BADGES}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(17_000)}`,
      413,
      'BODY_TOO_LARGE',
    ],
    ['bytes that are not a request', '\x16\x03\x01\x02\x00\x01\x00', 400, 'BAD_REQUEST'],
    ['an odd Expect', `${VERSION}Host: x\r\nExpect: coffee\r\n\r\n`, 417, 'EXPECTATION_FAILED'],
  ])('answers %s in JSON, closes the connection, and serves on', async (_, bytes, status, code) => {
    const [head = '', body = ''] = (await exchange(running.url, bytes)).split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`))
    expect(head).toMatch(/^content-type: application\/json;charset=utf-8$/im)
    expect(head).toMatch(/^connection: close$/im)
    expect(head).toMatch(new RegExp(`^content-length: ${body.length}$`, 'im'))
    const url = new URL('/api/swagger', running.url).href
    expect(JSON.parse(body)).toEqual({ message: expect.stringMatching(/^[a-z]/), url, code })
    expect((await fetch(`${running.url}/version`)).status).toBe(200)
  })

  test('serves on after a client that leaves in the middle of a request', async () => {
    const client = await dial(running.url)
    await client.send(`${BADGES}Content-Length: 100\r\n\r\n{`)
    client.socket.resetAndDestroy()
    expect((await fetch(`${running.url}/version`)).status).toBe(200)
  })

  test('needs no Host in a request of HTTP 1.0, and answers 100-continue', async () => {
    expect(await exchange(running.url, 'GET /api/v1/version HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
    const answer = await exchange(
      running.url,
      `${BADGES}Expect: 100-continue\r\nConnection: close\r\nContent-Length: 18\r\n\r\n{"badge_slugs":[]}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 204 /)
  })
})

/** The most memory that a process has used, in megabytes. */
async function peakOf(pid: number): Promise<number> {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

test('a hundred clients that ask for all they may and read nothing cost less than 200 MB, and others are answered', async () => {
  const { url, pid } = await startForgeletProcess(['--db', ':memory:', '--fixture', fixture])
  const sending = async (requests: number): Promise<void> => void (await dial(url)).send(BUNDLE.repeat(requests))
  await Promise.all(Array.from({ length: 100 }, () => sending(1 + MAX_WAITING_REQUESTS)))
  await sending(1000) // behind the others: 59 kB
  for (let times = 0; times < 5; times += 1) {
    expect((await fetch(`${url}/repos/harbor/tide-table/issues/pinned`)).status).toBe(200)
    expect((await fetch(new URL('/api/swagger/swagger-ui-bundle.js', url))).status).toBe(200)
  }
  expect(await peakOf(pid)).toBeLessThan(200)
})

test('30 clients that ask for 30 MB of issues and read nothing cost less than 300 MB, and others are answered', async () => {
  const { url: db } = await newDatabase(SQLITE)
  const repositories = [{ owner: 'ada', name: 'rocket' }]
  const host = await openStandalone({ db, fixture: { users: [{ username: 'ada' }], repositories } })
  const repositoryId = (await host.findRepository('ada', 'rocket'))?.id ?? ''
  const content = 'x'.repeat(1_000_000)
  const records = Array.from({ length: 30 }, (_, at) => issueRecord(at + 1, { content }))
  await host.forge.exchange.import('system', { repositoryId, records }, { batch: 5 })
  await host.close()

  const { url, pid } = await startForgeletProcess(['--db', db])
  const exported = get(`${new URL(url).pathname}/repos/ada/rocket/issues/export`)
  const statuses = Array.from({ length: 30 }, async () => {
    const client = await dial(url)
    await client.send(exported)
    await once(client.socket, 'readable')
    return String(client.socket.read()).slice(9, 12) // nothing more is received than fits into the buffers of the connection
  })
  expect((await Promise.all(statuses)).sort()).toEqual([...Array(8).fill('200'), ...Array(22).fill('503')])
  expect((await fetch(`${url}/repos/ada/rocket/issues/pinned`)).status).toBe(200)
  expect(await peakOf(pid)).toBeLessThan(300)
})

describe('a server of the command', () => {
  /** A server that replies as the test says. */
  async function serverOf(
    receive: (path: string, response: ServerResponse) => void,
    maxSilenceMs?: number,
  ): Promise<Server & { readonly port: number }> {
    const reception = {
      docsUrl: '',
      receive: ({ url = '' }: { readonly url?: string | undefined }, response: ServerResponse) =>
        receive(url, response),
    }
    const { server } = createJsonServer(reception, maxSilenceMs)
    onTestFinished(() => server.close().closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return Object.assign(server, { port: (server.address() as AddressInfo).port }) // it listens on a port
  }

  test('cuts a client that does not read its reply, after 30 seconds', async () => {
    const server = await serverOf((_, response) => response.end(Buffer.alloc(64 * 1024 * 1024)), 100)
    const connection = once(server, 'connection')
    await (await dial(server.port)).send(get('/'))
    const [socket] = await connection
    await once(socket, 'close')

    expect((await serverOf(() => undefined)).timeout).toBe(30_000)
  })

  test('handles requests that are sent ahead one after another, in order', async () => {
    const open: { readonly path: string; readonly response: ServerResponse }[] = []
    const server = await serverOf((path, response) => {
      if (path === '/other') return void response.end()
      open.push({ path, response })
      server.emit('received')
    })
    const received = once(server, 'received')
    const client = await dial(server.port)
    await client.send(...[1, 2, 3].map((n) => get(`/${n}`)))
    await received
    // The server answers a later request: by then it could have handled the second of the first client.
    expect((await fetch(`http://127.0.0.1:${server.port}/other`)).status).toBe(200)

    for (let turn = 0; turn < 3; turn += 1) {
      expect(open.map(({ path }) => path)).toEqual(['/1', '/2', '/3'].slice(0, turn + 1))
      const next = once(server, 'received')
      open[turn]?.response.end(`reply ${turn}`)
      expect((await client.reply()).text).toBe(`reply ${turn}`)
      if (turn < 2) await next
    }
  })

  test('handles nothing that was sent behind a request whose reply closes the connection', async () => {
    const handled: string[] = []
    const server = await serverOf((path, response) => {
      handled.push(path)
      response.setHeader('Connection', 'close').end()
    })
    await exchange(server.port, get('/1'), get('/2'))
    expect(handled).toEqual(['/1'])
  })

  test('closes the connection if one request more waits than may', async () => {
    const handled: string[] = []
    const server = await serverOf((path) => handled.push(path))
    await exchange(server.port, get('/').repeat(2 + MAX_WAITING_REQUESTS))
    expect(handled).toEqual(['/'])
  })
})
