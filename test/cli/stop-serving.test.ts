import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createJsonServer } from '../../src/cli/json-server.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { startServe } from './command.ts'

// The command in this process, or as a child; its connections are real.

const WORLD = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['t'] }],
  badges: [{ slug: 'owl' }],
}

const sockets: Client[] = []
let folder: string
let fixture: string
let stop: AbortController

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-stop-'))
  fixture = join(folder, 'world.json')
  await writeFile(fixture, JSON.stringify(WORLD))
})

afterAll(() => rm(folder, { recursive: true }))

beforeEach(() => {
  stop = new AbortController()
})

afterEach(() => {
  stop.abort()
  for (const { socket } of sockets.splice(0)) socket.destroy()
})

const ignore = (): void => undefined
const SILENT = { out: ignore, err: ignore, write: async () => undefined, showStatus: undefined, environment: {} }

interface Serving {
  readonly url: URL
  readonly ended: Promise<number>
  /** The lines on stderr. */
  readonly lines: readonly string[]
}

/** Serves from memory on a free port. */
async function serve(...args: readonly string[]): Promise<Serving> {
  let announce: (url: string) => void = () => undefined
  const announced = new Promise<string>((resolve) => {
    announce = resolve
  })
  const lines: string[] = []
  const err = (line: string): void => void lines.push(line)
  const io = { ...SILENT, out: announce, err, stop: stop.signal }
  const ended = runCli(['serve', '--db', ':memory:', '--port', '0', '--fixture', fixture, ...args], io)
  return { url: new URL(await announced), ended, lines }
}

/** A connection to a server. */
class Client {
  readonly socket: Socket
  readonly closed: Promise<unknown>
  #received = ''

  constructor({ hostname, port }: URL) {
    this.socket = connect(Number(port), hostname.replace(/^\[|\]$/g, '')).setEncoding('utf8')
    this.socket
      .on('error', () => undefined)
      .on('data', (text) => {
        this.#received += text
      })
    this.closed = once(this.socket, 'close')
    sockets.push(this)
  }

  /** Sends something, and returns the next response. */
  async ask(text: string): Promise<string> {
    this.send(text)
    while (!/\r\n\r\n/.test(this.#received)) {
      if (this.socket.destroyed) throw new Error('the connection was closed without a response')
      await Promise.race([once(this.socket, 'data'), this.closed])
    }
    const received = this.#received
    this.#received = ''
    return received
  }

  send(text: string): void {
    this.socket.write(text)
  }
}

const VERSION = 'GET /api/v1/version HTTP/1.1\r\nHost: x\r\n\r\n'
const GRANT = '{"badge_slugs":["owl"]}'
const post = (length: number): string =>
  `POST /api/v1/admin/users/alice/badges HTTP/1.1\r\nHost: x\r\nAuthorization: token t\r\nContent-Length: ${length}\r\n\r\n`

/** Sends the beginning of a request that changes something, and returns when the server has it. */
async function beginPost(url: URL): Promise<Client> {
  const client = new Client(url)
  client.send(`${post(GRANT.length)}{`)
  const other = new Client(url)
  await other.ask(VERSION)
  other.socket.destroy()
  return client
}

test('a request in progress ends, and later ones are refused on new and on kept connections', async () => {
  const { url, ended } = await serve()
  const kept = new Client(url)
  await kept.ask(VERSION)
  const begun = await beginPost(url)
  stop.abort()

  const REFUSED =
    /^HTTP\/1\.1 503 [\s\S]*\r\nConnection: close\r\n[\s\S]*Retry-After: 1\r\n[\s\S]*"code":"SHUTTING_DOWN"/
  expect(await kept.ask(VERSION)).toMatch(REFUSED)
  await kept.closed
  const later = new Client(url)
  expect(await later.ask(`${post(100)}{`)).toMatch(REFUSED) // answered before its body has arrived
  const ready = new Client(url)
  expect(await ready.ask('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 503 [\s\S]*\r\nConnection: close\r\n[\s\S]*"message":"the server is shutting down"/,
  )
  const health = new Client(url)
  expect(await health.ask('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 200 [\s\S]*Connection: close/,
  )
  later.send(' '.repeat(99))
  await later.closed

  expect(await begun.ask(GRANT.slice(1))).toMatch(/^HTTP\/1\.1 204 [\s\S]*\r\nConnection: close\r\n/)
  await begun.closed
  expect(await ended).toBe(0)
  await expect(fetch(url)).rejects.toThrow()
})

/** Starts a server that replies as the test says. */
async function listening(receive: (response: ServerResponse) => void) {
  const { server, connections } = createJsonServer({ docsUrl: '', receive: (_, response) => receive(response) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const url = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`)
  return { server, connections, url }
}

test('a request that was sent ahead is handled after the one in progress, as the last of its connection', async () => {
  const begun: ServerResponse[] = []
  const { connections, url } = await listening((response) => {
    if (begun.push(response) === 2) response.end('second')
  })
  const client = new Client(url)
  client.send(VERSION + VERSION)
  const other = new Client(url)
  await other.ask('GET / HTTP/1.1\r\n\r\n') // it lacks a Host: the server has seen both requests when it refuses this one
  const ended = connections.close(10_000)
  begun[0]?.end('first')
  let text = await client.ask('')
  while (!text.includes('second')) text += await client.ask('')

  expect(text).toMatch(
    /^HTTP[\s\S]*\r\nConnection: keep-alive\r\n[\s\S]*first[\s\S]*HTTP[\s\S]*\r\nConnection: close\r\n[\s\S]*second/,
  )
  expect(await ended).toBe(0)
})

test('a connection that arrives while the process is busy is refused with a response, and not reset', async () => {
  const { url, ended } = await serve()
  await new Client(url).ask(VERSION.replace('Host: x', 'Host: x\r\nConnection: close'))
  stop.abort()
  const late = new Client(url)
  late.send(VERSION)
  await new Promise((resolve) => process.nextTick(() => process.nextTick(resolve))) // the system has the connection
  const began = performance.now()
  while (performance.now() - began < 400); // longer than the server waits for another connection
  expect(await late.ask('')).toMatch(/^HTTP\/1\.1 503 .*\r\nConnection: close/s)
  expect(await ended).toBe(0)
})

test('an idle connection is kept for as long as was announced, and then closed', async () => {
  const { server, connections, url } = await listening((response) => response.end())
  server.keepAliveTimeout = 300
  const [used, unused] = [new Client(url), new Client(url)]
  await used.ask(VERSION)
  const began = performance.now()
  const ended = connections.close(20_000)
  await Promise.all([used.closed, unused.closed])
  const lasted = performance.now() - began

  expect(lasted).toBeGreaterThan(290)
  expect(lasted).toBeLessThan(15_000) // and not when the server stops to wait
  expect(await ended).toBe(0)
})

test('requests that do not finish within --shutdown-timeout are cut off, with a warning', async () => {
  const { url, ended, lines } = await serve('--shutdown-timeout', '1')
  const endless = await beginPost(url)
  const began = performance.now()
  stop.abort()
  await endless.closed

  expect(performance.now() - began).toBeGreaterThan(990)
  expect(await ended).toBe(0)
  expect(lines).toContainEqual(expect.stringContaining('warning: requests were cut off'))
})

test('--shutdown-timeout 0 waits for nothing', async () => {
  const { url, ended } = await serve('--shutdown-timeout', '0')
  const endless = await beginPost(url)
  stop.abort()
  await endless.closed
  expect(await ended).toBe(0)
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a second signal ends the process at once: %s', async (signal, code) => {
  const running = await startServe(folder, ['--db', ':memory:', '--fixture', fixture])
  const url = new URL(running.url)
  await beginPost(url)
  process.kill(running.pid, 'SIGTERM')
  process.kill(running.pid, 'SIGTERM') // what a wrapper passes on does not count
  await vi.waitFor(async () => expect((await fetch(url)).status).toBe(503))
  const again = setInterval(() => process.kill(running.pid, signal), 50)
  onTestFinished(() => clearInterval(again))

  expect((await running.ended).code).toBe(code)
})

test('the address of a server on IPv6 has brackets', async () => {
  const { url, ended } = await serve('--host', '::ffff:127.0.0.1')
  expect(url.hostname).toBe('[::ffff:7f00:1]')
  const client = new Client(url)
  await client.ask(VERSION)
  client.socket.destroy()
  stop.abort()
  expect(await ended).toBe(0)
})

test.each(['0.0.0.0', '::'])('the address of a server on %s is localhost', async (host) => {
  const { url, ended } = await serve('--host', host)
  expect(url.hostname).toBe('localhost')
  stop.abort()
  expect(await ended).toBe(0)
})

test('a server that waits for its database is alive and not ready, and stops at once', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined))
  onTestFinished(() => void silent.close())
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const io = { ...SILENT, stop: stop.signal }
  const own = await freePort()
  const ended = runCli(['serve', '--db', `postgres://forge@127.0.0.1:${port}/forge`, '--port', own], io)
  await once(silent, 'connection')
  const replies = await Promise.all(
    ['healthz', 'readyz', 'api/v1/version'].map((path) => fetch(`http://127.0.0.1:${own}/${path}`)),
  )
  expect(replies.map(({ status }) => status)).toEqual([200, 503, 503])
  expect(await replies[1]?.json()).toMatchObject({ code: 'NOT_READY', message: 'the server is starting' })
  stop.abort()

  expect(await ended).toBe(0)
})

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return String(typeof address === 'object' ? address?.port : 0)
}
