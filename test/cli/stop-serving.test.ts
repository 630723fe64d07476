import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'

// The command in this process: its timers are those of the test, its connections are real.

const sockets: Socket[] = []
let stop: AbortController

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  stop = new AbortController()
})

afterEach(() => {
  stop.abort()
  for (const socket of sockets.splice(0)) socket.destroy()
  vi.useRealTimers()
})

/** Serves from memory on a free port. */
async function serve(...args: readonly string[]): Promise<{ readonly url: URL; readonly ended: Promise<number> }> {
  let announce: (url: string) => void = () => undefined
  const announced = new Promise<string>((resolve) => {
    announce = resolve
  })
  const io = { out: announce, err: () => undefined, stop: stop.signal, environment: {} }
  const ended = runCli(['serve', '--db', ':memory:', '--port', '0', ...args], io)
  return { url: new URL(await announced), ended }
}

/** Sends a request, waits for its response, and keeps the connection. */
async function ask(url: URL, head: string): Promise<Socket> {
  const socket = await send(url, head)
  await once(socket, 'data')
  return socket
}

async function send(url: URL, head: string): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname.replace(/^\[|\]$/g, ''))
  sockets.push(socket.on('error', () => undefined))
  await once(socket, 'connect')
  socket.write(head)
  return socket
}

const COMPLETE = 'GET /api/v1/version HTTP/1.1\r\nHost: x\r\n\r\n'
const ENDLESS =
  'POST /api/v1/admin/users/alice/badges HTTP/1.1\r\nHost: x\r\nAuthorization: token t\r\nContent-Length: 9\r\n\r\n{'

test('a stopped server closes idle connections at once', async () => {
  const { url, ended } = await serve()
  const idle = await ask(url, COMPLETE)
  const closed = once(idle, 'close')
  stop.abort()

  await closed
  expect(await ended).toBe(0)
})

test('a stopped server ends a request that does not finish within 5 seconds', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-stop-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const fixture = join(folder, 'world.json')
  await writeFile(fixture, JSON.stringify({ users: [{ username: 'alice', siteAdmin: true, tokens: ['t'] }] }))
  const { url, ended } = await serve('--fixture', fixture)
  const endless = (await send(url, ENDLESS)).resume()
  const idle = await ask(url, COMPLETE) // when it is answered, the server has the head of the other request
  const idleClosed = once(idle, 'close')
  const closed = once(endless, 'close')
  stop.abort()
  await idleClosed
  await vi.advanceTimersByTimeAsync(4900)
  expect(endless.closed).toBe(false)
  await vi.advanceTimersByTimeAsync(100)

  await closed
  expect(await ended).toBe(0)
})

test('the address of a server on IPv6 has brackets', async () => {
  const { url, ended } = await serve('--host', '::ffff:127.0.0.1')
  expect(url.hostname).toBe('[::ffff:7f00:1]')
  await ask(url, COMPLETE)
  stop.abort()
  expect(await ended).toBe(0)
})

test.each(['0.0.0.0', '::'])('the address of a server on %s is localhost', async (host) => {
  const { url, ended } = await serve('--host', host)
  expect(url.hostname).toBe('localhost')
  stop.abort()
  expect(await ended).toBe(0)
})

test('a server that waits for its database stops at once', async () => {
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
  onTestFinished(() => void silent.close())
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const io = { out: () => undefined, err: () => undefined, stop: stop.signal, environment: {} }
  const ended = runCli(['serve', '--db', `postgres://forge@127.0.0.1:${port}/forge`, '--port', '0'], io)
  await once(silent, 'connection')
  stop.abort()

  expect(await ended).toBe(0)
})
