import type { IncomingMessage } from 'node:http'
import { request as open } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Case } from './cases/case.ts'
import { cases } from './cases.ts'
import { dispatched } from './dispatched.ts'
import type { Host, Running } from './hosts/host.ts'
import type { Seen, Send, Sent } from './run-case.ts'
import { runCase } from './run-case.ts'
import type { World } from './world.ts'
import { authenticate, openWorld } from './world.ts'

/** What the server, the host and HTTP itself say beside the reply. */
const NOT_OURS = ['connection', 'date', 'keep-alive', 'set-cookie', 'transfer-encoding', 'x-host', 'x-powered-by']

/** Every wire case over a host: to the byte what `dispatch` gives. */
export function adapterCases(host: Host): void {
  /** One server for all cases; each case plugs its own world in. */
  let current: World = openWorld()
  let server: Running

  beforeAll(async () => {
    server = await host.start(() => ({ api: current.api, authenticate }), { prefix: '/a/b' })
  })
  afterAll(() => server.stop())

  async function send(world: World, sent: Sent): Promise<Seen> {
    const { method, path, headers, body } = sent
    current = world
    // Node's client frames no body of GET and DELETE by itself.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = open(`${server.origin}/a/b${path}`, { method, headers: { ...headers, ...length } }, resolve)
      outgoing.on('error', reject)
      outgoing.end(body)
    })
    const seen = await collect(incoming)
    // A path that is not ours, and reached the host as it was.
    return seen.text === `the host: /a/b${path}` ? dispatched(world, { ...sent, path: '/elsewhere' }) : seen
  }

  describe.each(Object.entries(cases))('%s', (_section, list) => {
    it.each(list.filter((one) => reaches(host, one)))('$fact: to the byte what dispatch gives', async (given) => {
      expect(await reported(given, send)).toEqual(await reported(given, dispatched))
    })
  })
}

/** Whether the framework lets a case come through to the API. */
function reaches({ refusesMalformed }: Host, { ask: [, , path] }: Case): boolean {
  return !refusesMalformed || !path.includes('%zz')
}

async function collect(incoming: IncomingMessage): Promise<Seen> {
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const)
  return { status: incoming.statusCode ?? 0, headers: new Map(headers), text: Buffer.concat(chunks).toString() }
}

/** Every reply to the requests of a case. */
async function reported(given: Case, send: Send): Promise<readonly Seen[]> {
  const replies: Seen[] = []
  await runCase(given, async (world, ask) => {
    const seen = await send(world, ask)
    replies.push({ ...seen, headers: new Map([...seen.headers].filter(([name]) => isOurs(name, ask, seen))) })
    return seen
  })
  return replies
}

/** The length of a body that is there is set by the server. */
function isOurs(name: string, { method }: Sent, { text }: Seen): boolean {
  if (name === 'content-length' && method !== 'HEAD' && text !== '') return false
  return !NOT_OURS.includes(name)
}
