import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Running } from './command.ts'
import { startServe } from './command.ts'

// A real child process of dist/cli.js, spoken to in bytes.

let folder: string
let running: Running

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-unreadable-'))
  running = await startServe(folder, [
    '--db',
    ':memory:',
    '--fixture',
    join(import.meta.dirname, '../../demo/fixture.json'),
  ])
})

afterAll(async () => {
  await running.stop()
  await rm(folder, { recursive: true })
})

/** What comes back until the server closes the connection. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.write(bytes)
  await once(socket, 'close')
  return answer
}

const VERSION = 'GET /api/v1/version HTTP/1.1\r\n'
const BADGES = 'POST /api/v1/admin/users/mia/badges HTTP/1.1\r\nHost: x\r\nAuthorization: token alice-token\r\n'

const UNREADABLE: readonly (readonly [title: string, bytes: string, status: number, code: string])[] = [
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
]

describe('forgelet serve answers in JSON, closes the connection, and serves on after', () => {
  test.each(UNREADABLE)('%s', async (_, bytes, status, code) => {
    const [head = '', body = ''] = (await exchange(bytes)).split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`))
    expect(head).toMatch(/^content-type: application\/json;charset=utf-8$/im)
    expect(head).toMatch(/^connection: close$/im)
    expect(head).toMatch(new RegExp(`^content-length: ${body.length}$`, 'im'))
    expect(JSON.parse(body)).toEqual({
      message: expect.stringMatching(/^[a-z]/),
      url: new URL('/api/swagger', running.url).href,
      code,
    })
    expect((await fetch(`${running.url}/version`)).status).toBe(200)
  })

  test('a client that leaves in the middle of a request', async () => {
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    await new Promise((resolve) => socket.write(`${BADGES}Content-Length: 100\r\n\r\n{`, resolve))
    socket.resetAndDestroy()
    expect((await fetch(`${running.url}/version`)).status).toBe(200)
  })
})

test('a request of HTTP 1.0 needs no Host', async () => {
  expect(await exchange('GET /api/v1/version HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
})

test('100-continue is answered as ever', async () => {
  const answer = await exchange(
    `${BADGES}Expect: 100-continue\r\nConnection: close\r\nContent-Length: 18\r\n\r\n{"badge_slugs":[]}`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 204 /)
})
