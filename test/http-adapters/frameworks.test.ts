import fastify from 'fastify'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { mountContract } from '../../app/testing/testing.ts'
import { fetchHandler } from '../../src/http-adapters/fetch.ts'
import type { ServiceName } from '../../src/http-adapters/http.ts'
import { nodeHandler } from '../../src/http-adapters/node.ts'
import type { Running } from '../http.ts'
import { openKnownWorld } from '../testing/known-world.ts'
import type { Person } from '../world.ts'
import { authenticate, openWorld } from '../world.ts'
import type { Host, Mounting } from './hosts.ts'
import { express5Host, HOST_HEADERS, hosts, nodeHost } from './hosts.ts'

// What can go wrong with a message between a framework and dispatch: targets, queries, bodies, connections, headers of the host.
// These are the cases of the published mount contract, over real HTTP, in every framework.

/** The short form has each framework once, and the parser that most hosts have. */
const LONG = process.env['LONG'] === '1'

for (const host of hosts) {
  describe(`${host.name}, under /a/b`, () => contractOver(host, { prefix: '/a/b' }))
  const parsers = host === express5Host ? (['json'] as const) : []
  for (const before of LONG ? host.parsers : parsers) {
    describe(`${host.name}, at the root, behind the parser ${before}`, () => contractOver(host, { prefix: '', before }))
  }
}
for (const service of LONG ? openWorld().forge.services : []) {
  describe(`node:http, at the root, with the service ${service} alone`, () =>
    contractOver(nodeHost, { prefix: '' }, [service]))
}

test('Hono, by mount, which leaves the mount point to the handler', async () => {
  const { api } = openWorld()
  const handler = fetchHandler<Person>(api, { authenticate: () => null, basePath: '/api/v1' })
  const application = new Hono().mount('/api/v1', handler, { replaceRequest: false, optionHandler: ({ env }) => env })

  expect((await application.request('/api/v1/repos/acme/rocket/issues/pinned')).status).toBe(200)
  expect((await application.request('/api/v1/orgs/nothing/blocks')).status).toBe(404)
})

test('Fastify, in a route whose body it leaves to the API', async () => {
  const { api } = openWorld()
  const handler = nodeHandler<Person>(api, { authenticate: () => authenticate('token root'), basePath: '/api/v1' })
  const application = fastify()
  application.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _body, done) => done(null))
    scope.all('/api/v1/*', (request, reply) => {
      reply.hijack()
      handler(request.raw, reply.raw)
    })
  })
  onTestFinished(() => application.close())
  const headers = { 'content-type': 'application/json' }
  const url = `${await application.listen({ host: '127.0.0.1', port: 0 })}/api/v1/admin/users/stan/badges`

  expect((await fetch(url, { method: 'POST', headers, body: '{"badge_slugs":[]}' })).status).toBe(204)
  expect((await fetch(url, { method: 'POST', headers, body: '{"badge_slugs":[7]}' })).status).toBe(422)
})

function contractOver(host: Host, mounting: Mounting, services?: readonly ServiceName[]): void {
  const { prefix, before } = mounting
  // Half of the worlds say where they are.
  const { world, known } = openKnownWorld({
    limits: { maxBodyBytes: 50_000, maxImportBytes: 400_000 },
    publicUrl: prefix === '' ? undefined : 'https://git.example.com/api/v1',
    services,
  })
  let running: Running
  beforeAll(async () => {
    running = await host.start(() => world.api, mounting)
  })
  afterAll(() => running.stop())

  const letsPass = host.name !== 'Fastify' || before === undefined
  const start = async () => ({ origin: running.origin, prefix, stop: async () => undefined })
  const elsewhere = letsPass ? elsewhereOf(prefix) : undefined
  for (const { name, run } of mountContract(start, { ...known, services, headers: HOST_HEADERS, elsewhere })) {
    const exception = exceptionFor(name, host, mounting)
    if (exception === undefined) test(name, run)
    else if (!exception.hangs) {
      test(`${name}: not here, since ${exception.reason}`, async () => {
        await expect(run()).rejects.toMatchObject({ name: 'AssertionError', message: expect.stringContaining('fix: ') })
      })
    }
  }
}

/** Paths that are the host's, and what it answers there. */
function elsewhereOf(prefix: string): readonly { readonly path: string; readonly text: string }[] {
  const paths = ['/elsewhere?x=1&y=%2F+', `${prefix}/`, `${prefix}/?x=1&y=%2F`, `${prefix}/users/stan?x=1`]
  const beside = prefix === '' ? [] : [`${prefix}?x=1&y=%2F`, prefix, `${prefix}c/repos/acme/rocket/issues/pinned`]
  return [...paths, ...beside].map((path) => ({ path, text: `the host: ${path}` }))
}

/** A case that a framework makes impossible. */
interface Exception {
  readonly reason: string
  /** Whether it fails by coming to no end: that takes long to see. */
  readonly hangs?: true
}

function exceptionFor(name: string, host: Host, { before }: Mounting): Exception | undefined {
  const isAboutLimit = /^a body over the limit is|^an import over the limit is 413$/.test(name)
  const isAtLimit = /^a body at the limit|^an import over the limit is 413, also if|no header says so$/.test(name)
  if (host.name === 'Fastify' && name.startsWith('a path with a malformed %')) {
    return { reason: 'the router of Fastify answers a malformed % itself, with 400' }
  }
  if (before === 'json' && (isAboutLimit || isAtLimit)) {
    return { reason: 'a parser answers what is too long for it itself, and takes what is not' }
  }
  if (host.name === 'Fastify' && before === 'json' && name === 'an import that is compressed with gzip is read') {
    return { reason: 'the parser of Fastify does not decompress' }
  }
  if (before !== 'raw') return undefined
  const reason = 'a parser of every body reads it before any check'
  if (name === 'a refusal does not wait for the body') return { reason, hangs: true }
  return isAboutLimit || name === 'a connection stays usable after an unread body' ? { reason } : undefined
}
