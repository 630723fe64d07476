import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { MAX_WAITING_REQUESTS } from '../../src/cli/connections.ts'
import { createJsonServer } from '../../src/cli/json-server.ts'
import { startServe } from './command.ts'

// Clients that ask for much and read nothing.

const sockets: Socket[] = []
const servers: Server[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

/** Sends without ever reading. */
async function send(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined) // the server may close it while it still sends
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

const BUNDLE = 'GET /api/swagger/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'

test('300 clients that ask for all they may and read nothing cost less than 200 MB, and others are answered', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-unread-'))
  const fixture = join(import.meta.dirname, '../../demo/fixture.json')
  const running = await startServe(folder, ['--db', ':memory:', '--fixture', fixture])
  const port = Number(new URL(running.url).port)
  const requests = BUNDLE.repeat(1 + MAX_WAITING_REQUESTS)
  try {
    await Promise.all(Array.from({ length: 300 }, () => send(port, requests)))
    // Behind the others, 1,000 requests of one client: 59 kB.
    await send(port, BUNDLE.repeat(1000))
    for (let times = 0; times < 5; times += 1) {
      expect((await fetch(`${running.url}/repos/harbor/tide-table/issues/pinned`)).status).toBe(200)
      expect((await fetch(new URL('/api/swagger/swagger-ui-bundle.js', running.url))).status).toBe(200)
    }
    const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${running.pid}/status`, 'utf8'))?.[1])
    expect(peak).toBeLessThan(200 * 1024)
  } finally {
    await running.stop('SIGKILL')
    await rm(folder, { recursive: true })
  }
})

/** A server that replies as the test says. */
async function serverOf(
  receive: (path: string, response: ServerResponse) => void,
  maxSilenceMs?: number,
): Promise<Server> {
  const reception = {
    docsUrl: '',
    receive: ({ url = '' }: { readonly url?: string | undefined }, response: ServerResponse) => receive(url, response),
  }
  const { server } = createJsonServer(reception, maxSilenceMs)
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

test('a client that does not read its reply is cut, and the server waits 30 seconds for it', async () => {
  const server = await serverOf((_, response) => response.end(Buffer.alloc(64 * 1024 * 1024)), 100)
  const connection = once(server, 'connection')
  await send(portOf(server), GET('/'))
  const [socket] = await connection
  await once(socket, 'close')

  expect((await serverOf(() => undefined)).timeout).toBe(30_000)
})

test('requests that are sent ahead are handled one after another, in order', async () => {
  const open: { readonly path: string; readonly response: ServerResponse }[] = []
  const server = await serverOf((path, response) => {
    if (path === '/other') return void response.end()
    open.push({ path, response })
    server.emit('received')
  })
  const received = once(server, 'received')
  const socket = await send(portOf(server), [1, 2, 3].map((n) => GET(`/${n}`)).join(''))
  await received
  // The server answers a later request: by then it could have handled the second of the first client.
  expect((await fetch(`http://127.0.0.1:${portOf(server)}/other`)).status).toBe(200)

  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  const handled = []
  for (let turn = 0; turn < 3; turn += 1) {
    expect(open).toHaveLength(turn + 1)
    const next = once(server, 'received')
    handled.push(open[turn]?.path)
    open[turn]?.response.end(`reply ${turn}`)
    if (turn < 2) await next
  }
  while (!text.includes('reply 2')) await once(socket, 'data')
  expect([handled, text.match(/reply \d/g)]).toEqual([
    ['/1', '/2', '/3'],
    ['reply 0', 'reply 1', 'reply 2'],
  ])
})

test('a reply that closes the connection is the last, and what was sent ahead is not handled', async () => {
  const handled: string[] = []
  const server = await serverOf((path, response) => {
    handled.push(path)
    response.setHeader('Connection', 'close').end()
  })
  const socket = await send(portOf(server), GET('/1') + GET('/2'))
  socket.resume()
  await once(socket, 'close')

  expect(handled).toEqual(['/1'])
})

test('one request more than may wait closes the connection', async () => {
  const handled: string[] = []
  const server = await serverOf((path) => handled.push(path))
  const socket = await send(portOf(server), GET('/').repeat(2 + MAX_WAITING_REQUESTS))
  socket.resume()
  await once(socket, 'close')

  expect(handled).toEqual(['/'])
})
