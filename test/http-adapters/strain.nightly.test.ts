import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ask, Connection } from '../http.ts'
import { carriers } from './hosts.ts'
import type { Holdings } from './strained-server.ts'

// Hostile clients: each server is a process of its own, which reports what it holds.

const CLIENTS = 1000
const FLOOD = 100_000_000
/** In bytes: compiled code comes and goes. A thousand requests that stay are ten times as much. */
const MAX_KEPT_BYTES = 4_000_000
/** In bytes: what is under way between a client and the code that discards it. */
const MAX_PASSING_BYTES = 8_000_000
const ROOT = { Authorization: 'token root' }
const BADGES = 'POST /a/b/admin/users/stan/badges'
const LIST = ask('GET /a/b/repos/acme/rocket/issues/pinned')
const WAIT = { timeout: 20_000, interval: 100 }

/** When clients vanish: what they have sent, and whether they have read the first piece of the answer. */
const LEAVINGS: readonly (readonly [when: string, sends: string, reads: boolean])[] = [
  ['in the middle of the headers', LIST.slice(0, 60), false],
  ['as soon as they have asked', LIST, false],
  ['before the answer', ask('GET /a/b/repos/waiting/it/issues/pinned'), false],
  ['after a part of the answer', LIST.repeat(5), true],
  ['having read none of many answers', LIST.repeat(20), false],
  [
    'in the middle of a body that is read',
    ask(BADGES, { ...ROOT, 'Content-Length': '1000' }, '{"badge_slugs":["'),
    false,
  ],
  ['in the middle of an unread body', ask(BADGES, { 'Content-Length': '1000000' }, 'x'.repeat(1000)), true],
  [
    'in the middle of chunks that are too many',
    `${ask(BADGES, { ...ROOT, 'Transfer-Encoding': 'chunked' })}200000\r\n${'x'.repeat(100_000)}`,
    false,
  ],
]

/** Lets clients come, fifty at once, and vanish each in another way. */
async function vanish(port: number): Promise<void> {
  let next = 0
  const one = async (): Promise<void> => {
    while (next < CLIENTS) {
      const [, sends = '', reads = false] = LEAVINGS[next % LEAVINGS.length] ?? []
      next += 1
      const socket = connect(port, '127.0.0.1').pause()
      await new Promise<void>((done) => {
        socket.on('error', () => done())
        if (reads) socket.once('data', () => done()).resume()
        socket.write(sends, () => reads || done())
      })
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: 50 }, one))
}

const CHUNK = `f4240\r\n${'x'.repeat(1_000_000)}\r\n`

/** Sends a body of so many bytes, whatever is answered; ends early when the server cuts it off. Gives the status. */
async function flood(port: number, headers: Readonly<Record<string, string>>, size: number): Promise<number> {
  const connection = new Connection(connect(port, '127.0.0.1').pause())
  const { socket } = connection
  const reply = connection.reply() // read at once: it would be lost where the server cuts the connection
  await connection.send(ask(BADGES, { ...headers, 'Transfer-Encoding': 'chunked' }))
  for (let sent = 0; sent < size && !socket.destroyed; sent += 1_000_000) {
    await connection.send(CHUNK)
    await nextTurn() // what is written at once is reported at once: nothing would be read before the server cuts the connection
  }
  if (!socket.destroyed) await connection.send('0\r\n\r\n')
  const { status } = await reply
  socket.destroy()
  return status
}

let folder: string
/** The server and the sources that it imports in one file, for Node. */
let bundle: string

beforeAll(async () => {
  const require = createRequire(import.meta.url)
  const { build } = createRequire(require.resolve('tsup'))('esbuild')
  const cache = resolve(import.meta.dirname, '../../node_modules/.cache') // there it finds packages
  await mkdir(cache, { recursive: true })
  folder = await mkdtemp(join(cache, 'forgelet-strain-'))
  bundle = join(folder, 'strained-server.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'strained-server.ts')],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error',
  })
})
afterAll(() => rm(folder, { recursive: true }))

describe.each(carriers)('$name', ({ name }) => {
  let child: ReturnType<typeof fork>
  let port: number

  /** What the server holds; when it watches, it goes on to look for the most at once. */
  async function asked(request: 'holdings' | 'watch'): Promise<Holdings> {
    const answer = once(child, 'message')
    child.send(request)
    const [held] = await answer
    return held
  }

  async function atRest(): Promise<Holdings> {
    await vi.waitFor(async () => expect((await asked('holdings')).sockets).toBe(0), WAIT)
    return asked('holdings')
  }

  beforeAll(async () => {
    child = fork(bundle, [name], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] })
    const [{ origin }] = await once(child, 'message')
    port = Number(new URL(origin).port)
    for (const headers of [ROOT, {}]) await flood(port, headers, 20_000_000) // the first time costs more
    await vanish(port)
  })
  afterAll(() => child.disconnect())

  test.each([
    ['of someone who may is refused with 413', ROOT, 413],
    ['of a stranger is refused with 401', {}, 401],
  ] as const)('a body of 100 MB %s, and never in memory', { timeout: 120_000 }, async (_what, headers, status) => {
    const { kept } = await asked('watch')
    const answered = await flood(port, headers, FLOOD)
    const { peak } = await asked('holdings')

    expect(answered).toBe(status)
    expect(peak - kept).toBeLessThan(MAX_PASSING_BYTES)
  })

  test('clients that vanish at any moment leave nothing behind', { timeout: 120_000 }, async () => {
    const before = await atRest()
    await vanish(port)

    await vi.waitFor(async () => {
      const held = await atRest()
      expect(held.timers).toBeLessThanOrEqual(before.timers)
      expect(held.kept - before.kept).toBeLessThan(MAX_KEPT_BYTES)
    }, WAIT)
  })
})
