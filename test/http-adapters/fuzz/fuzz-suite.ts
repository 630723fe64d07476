import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Exchanged } from '../declared-replies.ts'
import { checkReply } from '../declared-replies.ts'
import type { Host, Running } from '../hosts/host.ts'
import { hosts } from '../hosts/hosts.ts'
import type { World } from '../world.ts'
import { authenticate, openWorld, sshKey } from '../world.ts'
import type { FuzzedRequest } from './fuzzed-request.ts'
import { BODY_LIMIT, fuzzedRequest } from './fuzzed-request.ts'
import { WireClient } from './wire-client.ts'

/** Requests in all, over every adapter together. */
const REQUESTS = Number(process.env['FORGELET_TEST_FUZZ'] ?? 20_000)
const PREFIX = '/a/b'

async function filledWorld(): Promise<World> {
  const world = openWorld({ signingKey: sshKey, limits: { maxBodyBytes: BODY_LIMIT } })
  for (const slug of ['night-owl', 'founder']) {
    await world.forge.badges.catalogue.define('system', { slug, description: slug, imageUrl: '' })
  }
  return world
}

/** Defines the test that sends odd requests to the adapter of a host. */
export function fuzz(host: Host): void {
  let world: World
  let server: Running
  let client: WireClient

  beforeAll(async () => {
    world = await filledWorld()
    server = await host.start(() => ({ api: world.api, authenticate }), { prefix: PREFIX })
    client = new WireClient(`${server.origin}${PREFIX}`)
  })
  afterAll(async () => {
    client.close()
    await server.stop()
  })

  it('is answered, as the document declares it, and never with 500', { timeout: 600_000 }, async () => {
    const document = world.api.openApi()
    await fc.assert(
      fc.asyncProperty(fuzzedRequest(document), async (sent) => {
        fc.pre(arrivesAsSent(host, sent))
        const seen = await client.send(sent)
        if (isRefusalOf(host, seen)) return

        const reply = isPassedOn(sent, seen) ? notOurs(sent) : { ...seen, headers: withoutHosts(seen.headers) }
        expect(reply.status).toBeLessThan(500)
        expect(checkReply(document, reply)).toEqual([])
      }),
      { numRuns: Math.ceil(REQUESTS / hosts.length) },
    )
    expect(world.logged).toEqual([])
  })
}

/** Whether the framework asks for what was sent. */
function arrivesAsSent({ mergesSlashes, resolvesDots }: Host, { path }: FuzzedRequest): boolean {
  const [segments = ''] = path.split('?')
  if (mergesSlashes && segments.startsWith('//')) return false
  return !resolvesDots || !DOTS.test(segments)
}

/** A segment of one or two dots, however they are written, or a backslash. */
const DOTS = /(^|\/)(\.|%2e){1,2}(\/|$)|\\/i

/** Every reply of the API has its Cache-Control: without it something else has answered. */
function isRefusalOf({ ownRefusals }: Host, { status, headers }: Exchanged): boolean {
  return ownRefusals.includes(status) && !headers.has('cache-control')
}

/** Whether the host got the request, its path just as it was sent. */
function isPassedOn({ method, path }: FuzzedRequest, { status, text, headers }: Exchanged): boolean {
  if (status !== 200 || headers.has('cache-control')) return false
  return method === 'HEAD' || asAddress(text.replace('the host: ', '')) === asAddress(PREFIX + path)
}

/** In the spelling of addresses, which some frameworks turn every path into. */
function asAddress(path: string): string {
  return new URL(`http://git.example.com${path}`).href.replace(/\?$/, '')
}

/** What the API answers to a path that is not its own where nothing else does: declared for such paths only. */
function notOurs({ method, path }: FuzzedRequest): Exchanged {
  const headers = new Map([
    ['cache-control', 'max-age=0, private, must-revalidate'],
    ['x-content-type-options', 'nosniff'],
    ['content-type', 'application/json;charset=utf-8'],
    ['content-length', '57'],
  ])
  const text = method === 'HEAD' ? '' : '{"message":"not found","url":"","code":"ROUTE_NOT_FOUND"}'
  return { method, path, status: 404, headers, text }
}

/** Without what the host and its framework say. */
function withoutHosts(headers: Exchanged['headers']): Exchanged['headers'] {
  return new Map([...headers].filter(([name]) => !['set-cookie', 'x-host', 'x-powered-by'].includes(name)))
}
