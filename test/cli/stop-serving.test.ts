import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ForgeServer } from '../../app/cli/server.ts'
import type { Connection } from '../http.ts'
import { dial, freePort, listening } from '../http.ts'
import { runForgelet, startForgelet, startForgeletProcess } from '../start-forgelet.ts'

const fixture = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['t'] }],
  badges: [{ slug: 'owl' }],
}
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const VERSION = get('/api/v1/version')
const GRANT = '{"badge_slugs":["owl"]}'
const post = (length: number): string =>
  `POST /api/v1/admin/users/alice/badges HTTP/1.1\r\nHost: x\r\nAuthorization: token t\r\nContent-Length: ${length}\r\n\r\n`

/** Serves from memory as it is usual, in this process. */
function serve(...args: readonly string[]) {
  return startForgelet(['--db', ':memory:', '--shutdown-timeout', '8', ...args], { fixture })
}

async function ask(client: Connection, request: string) {
  await client.send(request)
  return client.reply()
}

/** Sends the beginning of a request that changes something, and returns when the server has it. */
async function beginPost(url: string): Promise<Connection> {
  const client = await dial(url)
  await client.send(`${post(GRANT.length)}{`)
  const other = await dial(url)
  await ask(other, VERSION)
  other.socket.destroy()
  return client
}

test('a request in progress ends, and later ones are refused on new and on kept connections', async () => {
  const { url, stop } = await serve()
  const kept = await dial(url)
  await ask(kept, VERSION)
  const begun = await beginPost(url)
  const ended = stop()

  const later = await dial(url)
  for (const refused of [await ask(kept, VERSION), await ask(later, `${post(100)}{`)]) {
    expect([refused.status, refused.headers.get('connection'), refused.headers.get('retry-after')]).toEqual([
      503,
      'close',
      '1',
    ])
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'SHUTTING_DOWN' })
  }
  await kept.rest()
  await later.send(' '.repeat(99)) // it was answered before its body had arrived
  await later.rest()
  const ready = await ask(await dial(url), get('/readyz'))
  expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close'])
  expect(JSON.parse(ready.text)).toMatchObject({ message: 'the server is shutting down' })
  const health = await ask(await dial(url), get('/healthz'))
  expect([health.status, health.headers.get('connection')]).toEqual([200, 'close'])

  const done = await ask(begun, GRANT.slice(1))
  expect([done.status, done.headers.get('connection')]).toEqual([204, 'close'])
  await begun.rest()
  expect((await ended).code).toBe(0)
  await expect(fetch(url)).rejects.toThrow()
})

test('a connection that arrives while the process is busy is refused with a response, and not reset', async () => {
  const { url, stop } = await serve()
  await ask(await dial(url), VERSION.replace('Host: x', 'Host: x\r\nConnection: close'))
  const ended = stop()
  const late = dial(url)
  await new Promise((resolve) => process.nextTick(() => process.nextTick(resolve))) // the system has the connection
  const began = performance.now()
  while (performance.now() - began < 400); // longer than the server waits for another connection
  const refused = await ask(await late, VERSION)
  expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close'])
  expect((await ended).code).toBe(0)
})

test('an idle connection is kept for as long as was announced, and then closed', async () => {
  const server = new ForgeServer()
  const { origin } = await listening(server.http)
  server.http.keepAliveTimeout = 300
  const [used, unused] = [await dial(origin), await dial(origin)]
  await ask(used, get('/healthz'))
  const began = performance.now()
  const ended = server.close(20_000)
  await Promise.all([used.rest(), unused.rest()])
  const lasted = performance.now() - began

  expect(lasted).toBeGreaterThan(290)
  expect(lasted).toBeLessThan(15_000) // and not when the server stops to wait
  expect(await ended).toBe(0)
})

test('requests that do not finish within --shutdown-timeout are cut off, with a warning', async () => {
  const { url, stop } = await serve('--shutdown-timeout', '1')
  const endless = await beginPost(url)
  const began = performance.now()
  const ended = stop()
  await endless.rest()

  expect(performance.now() - began).toBeGreaterThan(990)
  expect(await ended).toMatchObject({ code: 0, err: expect.stringContaining('warning: requests were cut off') })
})

test.each([
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)('a second signal ends the process at once: %s', async (signal, code) => {
  const { url, pid, ended } = await startForgeletProcess(['--db', ':memory:'], { fixture })
  await beginPost(url)
  process.kill(pid, 'SIGTERM')
  process.kill(pid, 'SIGTERM') // what a wrapper passes on does not count
  await vi.waitFor(async () => expect((await fetch(url)).status).toBe(503))
  const again = setInterval(() => process.kill(pid, signal), 50)
  onTestFinished(() => clearInterval(again))

  expect((await ended).code).toBe(code)
})

test.each([
  ['::ffff:127.0.0.1', '[::ffff:7f00:1]'],
  ['0.0.0.0', 'localhost'],
  ['::', 'localhost'],
])('the address of a server on %s has the host %s', async (host, shown) => {
  const { url } = await serve('--shutdown-timeout', '0', '--host', host)
  expect(new URL(url).hostname).toBe(shown)
  expect((await fetch(`${url}/version`)).status).toBe(200)
})

test('a server that waits for its database is alive and not ready, and stops at once', async () => {
  const [free, port] = [await freePort(), await freePort()]
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(port, '127.0.0.1')
  onTestFinished(() => void silent.close())
  const db = `postgres://forge@127.0.0.1:${port}/forge`
  const stop = new AbortController()
  const ended = runForgelet(['serve', '--db', db, '--port', String(free)], { stop: stop.signal })
  await once(silent, 'connection')
  const replies = await Promise.all(
    ['healthz', 'readyz', 'api/v1/version'].map((path) => fetch(`http://127.0.0.1:${free}/${path}`)),
  )
  expect(replies.map(({ status }) => status)).toEqual([200, 503, 503])
  expect(await replies[1]?.json()).toMatchObject({ code: 'NOT_READY', message: 'the server is starting' })
  stop.abort()

  expect((await ended).code).toBe(0)
})
