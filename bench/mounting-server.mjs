// One server of bench/mounting.mjs: `node bench/mounting-server.mjs VARIANT`. Every variant but the bare one answers "does acme
// block this user?" for a known token: the same look-ups in the same maps, by hand or through forgelet.
import { createServer } from 'node:http'
import middie from '@fastify/middie'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { createForge, rolePolicy } from 'forgelet'
import { expressHandler } from 'forgelet/express'
import { fetchHandler } from 'forgelet/fetch'
import { createApi } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { memoryStorage } from 'forgelet/storage/memory'
import { Hono } from 'hono'

const tokens = new Map([['token olga', { id: 1 }]])
const organizations = new Map([['acme', 1000]])
const users = new Map(Array.from({ length: 1000 }, (_, id) => [`user-${id}`, id]))
const blocked = new Set(Array.from({ length: 1000 }, (_, id) => `1000 ${id}`))

const variants = {
  bare: () => listen(createServer((_, response) => response.writeHead(204).end())),
  node: async () => listen(createServer(nodeHandler(await api(), { authenticate, basePath: '/api/v1' }))),
  express: async () => listen(express().use('/api/v1', expressHandler(await api(), { authenticate }))),
  'express by hand': () =>
    listen(
      express().get('/api/v1/orgs/:org/blocks/:user', (request, response) => {
        response.status(statusOf(request.headers.authorization, request.params)).end()
      }),
    ),
  fastify: async () => {
    const app = fastify()
    await app.register(middie)
    app.use('/api/v1', nodeHandler(await api(), { authenticate }))
    return listenFastify(app)
  },
  'fastify by hand': () => {
    const app = fastify()
    app.get('/api/v1/orgs/:org/blocks/:user', (request, reply) =>
      reply.code(statusOf(request.headers.authorization, request.params)).send(),
    )
    return listenFastify(app)
  },
  hono: async () => {
    const handler = fetchHandler(await api(), {
      basePath: '/api/v1',
      authenticate: (request) => tokens.get(request.headers.get('authorization')) ?? null,
    })
    return listenHono(new Hono().mount('/api/v1', handler, { replaceRequest: false }))
  },
  'hono by hand': () =>
    listenHono(
      new Hono().get('/api/v1/orgs/:org/blocks/:user', (context) =>
        context.body(null, statusOf(context.req.header('authorization'), context.req.param())),
      ),
    ),
}

process.send({ port: await variants[process.argv[2]]() })
process.on('message', () => process.send({ cpu: process.cpuUsage() }))

function authenticate(request) {
  return tokens.get(request.headers.authorization) ?? null
}

function statusOf(authorization, { org, user }) {
  const organization = organizations.get(org)
  if (organization === undefined) return 404
  if (!tokens.has(authorization)) return 401
  const id = users.get(user)
  return id !== undefined && blocked.has(`${organization} ${id}`) ? 204 : 404
}

async function api() {
  const forge = createForge({
    storage: memoryStorage(),
    policy: rolePolicy({ isSiteAdmin: () => true, repositoryRole: () => 'none', organizationRole: () => 'stranger' }),
    membership: { isMember: () => false },
  })
  for (const id of users.values()) {
    await forge.blocks.block('system', { organizationId: 1000, account: { kind: 'user', id } })
  }
  return createApi(forge, {
    directory: {
      findAccount: (name) =>
        organizations.has(name)
          ? { kind: 'organization', id: organizations.get(name) }
          : users.has(name) && { kind: 'user', id: users.get(name) },
      findRepository: () => undefined,
      findIssue: () => undefined,
    },
    present: { users: () => [], issues: () => [], pullRequests: () => [] },
  })
}

function listen(server) {
  return new Promise((resolve) => {
    const listening = server.listen(0, '127.0.0.1', () => resolve(listening.address().port))
  })
}

async function listenFastify(app) {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server.address().port
}

function listenHono({ fetch }) {
  return new Promise((resolve) => serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port)))
}
