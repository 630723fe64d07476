import { once } from 'node:events'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ForgeServer } from '../../app/cli/server.ts'
import { dial, exchange, listening } from '../http.ts'
import { peakOf } from '../programs.ts'
import type { Running } from '../start-forgelet.ts'
import { startForgelet, startForgeletProcess } from '../start-forgelet.ts'

// Clients that send what is not HTTP, or ask for much and read nothing.

const fixture = resolve(import.meta.dirname, '../../demo/fixture.json')
const VERSION = 'GET /api/v1/version HTTP/1.1\r\n'
const BUNDLE = 'GET /api/swagger/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'

describe('forgelet serve', () => {
  let running: Running

  beforeAll(async () => {
    running = await startForgelet(['--db', ':memory:', '--fixture', fixture])
    return async () => void (await running.stop())
  })

  test.each([
    ['headers over 16 KB', `${VERSION}Host: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    ['bytes that are not a request', '\x16\x03\x01\x02\x00\x01\x00', 400],
  ])('refuses %s, closes the connection, and serves on', async (_, bytes, status) => {
    const [head = ''] = (await exchange(running.url, bytes)).split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`))
    expect(head).toMatch(/^connection: close$/im)
    expect((await fetch(`${running.url}/version`)).status).toBe(200)
  })
})

test('300 clients that ask for the largest page and read nothing cost less than 200 MB, and others are answered', async () => {
  const { url, pid } = await startForgeletProcess(['--db', ':memory:', '--fixture', fixture])
  const clients = await Promise.all(Array.from({ length: 300 }, () => dial(url)))
  await Promise.all(clients.map((client) => client.send(BUNDLE)))
  await (await dial(url)).send(BUNDLE.repeat(1000)) // sent ahead: 59 kB
  for (let times = 0; times < 5; times += 1) {
    expect((await fetch(`${url}/repos/harbor/tide-table/issues/pinned`)).status).toBe(200)
    expect((await fetch(new URL('/api/swagger/swagger-ui-bundle.js', url))).status).toBe(200)
  }
  expect(clients.filter(({ socket }) => socket.destroyed)).toEqual([])
  expect(peakOf(pid)).toBeLessThan(200)
})

test('a client that does not read its response is cut off, after 30 seconds', async () => {
  const server = new ForgeServer()
  onTestFinished(() => void server.close(0))
  expect(server.http.timeout).toBe(30_000)
  server.http.timeout = 100
  server.http.on('request', (_, response) => response.write(Buffer.alloc(64 * 1024 * 1024)))
  const { origin } = await listening(server.http)
  const connection = once(server.http, 'connection')
  await (await dial(origin)).send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  const [socket] = await connection
  await once(socket, 'close')
})
