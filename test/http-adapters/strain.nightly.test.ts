import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ask } from '../http.ts'
import { openKnownWorld } from '../testing/known-world.ts'
import { carriers } from './hosts.ts'

// Hostile clients, of a server in this process.

const CLIENTS = 1000
/** In bytes: compiled code comes and goes. A thousand requests that stay are ten times as much. */
const MAX_KEPT_BYTES = 4_000_000
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

/** How many of some resources are active: of connections and timers. */
function active(type: 'TCPSocketWrap' | 'Timeout'): number {
  return process.getActiveResourcesInfo().filter((one) => one === type).length
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** The bytes that cannot be collected. */
function kept(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test.each(carriers)(
  'clients of $name that vanish at any moment leave nothing behind',
  async (host) => {
    const { world } = openKnownWorld({ limits: { maxBodyBytes: 50_000 } })
    const { origin, stop } = await host.start(() => world.api, { prefix: '/a/b' })
    onTestFinished(stop)
    const port = Number(new URL(origin).port)
    const atRest = () => vi.waitFor(() => expect(active('TCPSocketWrap')).toBe(0), WAIT)
    await vanish(port) // the first time costs more
    await atRest()
    const before = { timers: active('Timeout'), bytes: kept() }
    await vanish(port)
    await atRest()

    // Not in `vi.waitFor`, which has two timers of its own from its second look on.
    for (let looks = 0; active('Timeout') > before.timers && looks < 200; looks += 1) await setTimeout(WAIT.interval)
    expect(active('Timeout')).toBeLessThanOrEqual(before.timers)
    await vi.waitFor(() => expect(kept() - before.bytes).toBeLessThan(MAX_KEPT_BYTES), WAIT)
  },
  120_000,
)
