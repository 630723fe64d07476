import type { IncomingMessage } from 'node:http'
import { createServer, request as open } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { nodeHandler } from '../../src/http-adapters/node.ts'
import { cases } from './cases.ts'
import type { Seen, Sent } from './run-case.ts'
import { runCase } from './run-case.ts'
import type { Person, World } from './world.ts'
import { authenticate, openWorld } from './world.ts'

/** One server for all cases; each case plugs its own world in. */
let current: World = openWorld()
const server = createServer((request, response) => {
  const handler = nodeHandler<Person, IncomingMessage>(current.api, {
    authenticate: ({ headers }) => authenticate(headers.authorization),
    basePath: '/a/b',
  })
  handler(request, response)
})
let port = 0

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port // a server that listens on a port has such an address
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

function send(world: World, { method, path, headers, body }: Sent): Promise<Seen> {
  current = world
  // Node's client frames no body of GET and DELETE by itself.
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const outgoing = open(
      { port, method, path: `/a/b${path}`, headers: { ...headers, ...length } },
      (incoming) => void collect(incoming).then(resolve, reject),
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

async function collect(incoming: IncomingMessage): Promise<Seen> {
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const)
  return { status: incoming.statusCode ?? 0, headers: new Map(headers), text: Buffer.concat(chunks).toString() }
}

describe.each(Object.entries(cases))('node:http: %s', (_section, list) => {
  it.each(list)('$fact', (given) => runCase(given, send))
})
