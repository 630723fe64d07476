import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hosts } from './hosts/hosts.ts'
import { flood, vanish } from './strain/clients.ts'
import type { Bundle, Strained } from './strain/strained.ts'
import { bundleServer, startStrained } from './strain/strained.ts'
import type { Holdings } from './strain/strained-server.ts'

// Hostile clients, against every adapter: each server is a process of its own, and is observed from outside.

const CLIENTS = 1000
const FLOOD = 100_000_000
const MEBIBYTE = 1_048_576
/** In bytes: compiled code comes and goes. A thousand requests that stay are ten times as much. */
const MAX_KEPT_BYTES = 4_000_000
/** In bytes: what is under way between a client and the code that discards it. */
const MAX_PASSING_BYTES = 8_000_000
const ROOT = { Authorization: 'token root' }
const WAIT = { timeout: 20_000, interval: 100 }

let bundle: Bundle

beforeAll(async () => {
  bundle = await bundleServer()
})
afterAll(() => bundle.remove())

describe.each(hosts)('$name', ({ name }) => {
  let server: Strained
  beforeAll(async () => {
    server = await startStrained(bundle, name)
    for (const headers of [ROOT, {}]) await flood(server.port, headers, 20_000_000) // the first time costs more
    await vanish(server.port, CLIENTS)
  })
  afterAll(() => server.stop())

  test.each([
    ['of someone who may is refused with 413', ROOT, 413],
    ['of a stranger is refused with 401', {}, 401],
  ] as const)('a body of 100 MB %s, and never in memory', { timeout: 120_000 }, async (_what, headers, status) => {
    const { kept } = await server.watch()
    const { answer, sent } = await flood(server.port, headers, FLOOD)
    const { peak } = await server.holdings()

    report(`${name}, ${status}: ${mebibytes(sent)} sent, at most ${mebibytes(peak - kept)} kept at once`)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(peak - kept).toBeLessThan(MAX_PASSING_BYTES)
  })

  test('clients that vanish at any moment leave nothing behind', { timeout: 120_000 }, async () => {
    const before = await atRest(server)
    await vanish(server.port, CLIENTS)

    const after = await vi.waitFor(async () => {
      const held = await atRest(server)
      expect(held.timers).toBeLessThanOrEqual(before.timers)
      expect(held.kept - before.kept).toBeLessThan(MAX_KEPT_BYTES)
      return held
    }, WAIT)
    report(`${name}: ${after.kept - before.kept} bytes more are kept after ${CLIENTS} clients`)
  })
})

/** What a server holds when every connection is closed. */
async function atRest({ holdings }: Strained): Promise<Holdings> {
  await vi.waitFor(async () => expect((await holdings()).sockets).toBe(0), WAIT)
  return holdings()
}

function report(figure: string): void {
  if (process.env['FORGELET_TEST_FIGURES'] === '1') process.stdout.write(`${figure}\n`)
}

function mebibytes(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(1)} MiB`
}
