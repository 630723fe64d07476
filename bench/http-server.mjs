// The servers of bench/http.mjs: `node bench/http-server.mjs VARIANT FILE STATEMENTS`. All read the same SQLite file and belong to
// the same host: accounts and issues in maps, one token, and Olga, who owns the organization. By hand, a server looks up and
// decides what forgelet looks up and decides, and runs the statements that forgelet runs.
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'
import middie from '@fastify/middie'
import { createAdaptorServer } from '@hono/node-server'
import Database from 'better-sqlite3'
import express from 'express'
import fastify from 'fastify'
import { createForge, rolePolicy } from 'forgelet'
import { expressHandler } from 'forgelet/express'
import { fetchHandler } from 'forgelet/fetch'
import { createApi } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { Hono } from 'hono'
import { runServer } from './harness.mjs'

export const ORGANIZATION = 1000
const REPOSITORY = 10
const OLGA = { id: 5000 }
const PINNED = [101, 102, 103]
const BLOCK_PATH = '/api/v1/orgs/:org/blocks/:user'
export const BLOCKED = 1000
export const TOKEN = 'token olga'

const tokens = new Map([[TOKEN, OLGA]])
const owners = new Map([[ORGANIZATION, OLGA.id]])
const repositories = new Map([['acme/rocket', { id: REPOSITORY }]])
const accounts = new Map([
  ['acme', { kind: 'organization', id: ORGANIZATION }],
  ...Array.from({ length: BLOCKED }, (_, id) => [`user-${id}`, { kind: 'user', id }]),
])
const issues = new Map(
  PINNED.map((id) => [
    id,
    { id, number: id - 100, title: `Issue ${id}`, body: 'It does not fly. '.repeat(20), state: 'open' },
  ]),
)
const key = { format: 'ssh', text: `ssh-ed25519 ${'A'.repeat(68)} forge@git.example.com\n`, etag: '"key-1"' }

/** Makes the forge of this host. */
export function openForge(storage) {
  return createForge({
    storage,
    policy: rolePolicy({
      isSiteAdmin: () => false,
      repositoryRole: () => 'admin',
      organizationRole: (id, { actor }) => (owners.get(Number(id)) === actor.id ? 'owner' : 'stranger'),
    }),
    membership: { isMember: () => false },
    signingKey: { format: key.format, publicKey: () => key },
  })
}

/** Writes the rows that the servers read. */
export async function fill(forge) {
  for (let id = 0; id < BLOCKED; id += 1) {
    await forge.blocks.block('system', { organizationId: ORGANIZATION, account: { kind: 'user', id } })
  }
  for (const id of PINNED) await forge.pins.pin('system', { id, repositoryId: REPOSITORY, kind: 'issue' })
}

export function openApi(forge) {
  return createApi(forge, {
    directory: {
      findAccount: (name) => accounts.get(name),
      findRepository: (owner, name) => repositories.get(`${owner}/${name}`),
      findIssue: (repositoryId, index) => issues.get(100 + index) && { id: 100 + index, repositoryId, kind: 'issue' },
    },
    present: {
      users: (ids) => ids.map((id) => ({ id: Number(id), login: `user-${id}` })),
      issues: (ids) => ids.map((id) => issues.get(Number(id))),
      pullRequests: () => [],
    },
  })
}

export function authenticate(request) {
  return tokens.get(request.headers.authorization) ?? null
}

function api(file) {
  return openApi(openForge(sqliteStorage(file)))
}

const PAGE = `select user_id as userId, note, blocked_at as blockedAt, blocked_by as blockedBy from forgelet_organization_blocks
  where organization_id = ? order by seq limit ? offset ?`
const COUNT = 'select count(*) as total from forgelet_organization_blocks where organization_id = ?'

/** What a server by hand does for a block check, the list of pins, and a page of blocks with the total. */
function byHand(file, statements) {
  const handle = new Database(file, { readonly: true })
  const [block, board] = JSON.parse(statements).map((sql) => handle.prepare(sql))
  const page = handle.prepare(PAGE)
  const count = handle.prepare(COUNT)
  return {
    statusOfBlock(org, name, authorization) {
      const organization = accounts.get(org)
      if (organization?.kind !== 'organization') return 404
      const user = tokens.get(authorization)
      if (user === undefined) return 401
      if (owners.get(organization.id) !== user.id) return 403
      const account = accounts.get(name)
      return account !== undefined && block.get(organization.id, account.id) !== undefined ? 204 : 404
    },
    pinned(repository) {
      const rows = board.all(repository.id, 'issue')
      return JSON.stringify(rows.map((row, index) => ({ ...issues.get(Number(row.issueId)), pin_order: index + 1 })))
    },
    blocksOf(organization) {
      const { total } = count.get(organization.id)
      const rows = page.all(organization.id, 30, 0)
      return { total, body: JSON.stringify(rows.map((row) => ({ id: row.userId, login: `user-${row.userId}` }))) }
    },
  }
}

const variants = {
  node: (file) => createServer(nodeHandler(api(file), { authenticate, basePath: '/api/v1' })),
  'node by hand'(file, statements) {
    const { statusOfBlock, pinned, blocksOf } = byHand(file, statements)
    return createServer((request, response) => {
      const [, , , scope, one, two, three] = request.url.split('/')
      if (scope === 'orgs' && two === 'blocks?limit=30') {
        const { total, body } = blocksOf(accounts.get(one))
        response
          .writeHead(200, {
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
            'X-Total-Count': total,
          })
          .end(body)
      } else if (scope === 'orgs' && two === 'blocks') {
        const status = statusOfBlock(one, three, request.headers.authorization)
        response.writeHead(status, status === 204 ? undefined : { 'Content-Length': 0 }).end()
      } else if (scope === 'repos' && three === 'issues') {
        const body = pinned(repositories.get(`${one}/${two}`))
        response
          .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
          .end(body)
      } else {
        response.writeHead(200, KEY_HEADERS).end(key.text)
      }
    })
  },
  express: (file) => createServer(express().use('/api/v1', expressHandler(api(file), { authenticate }))),
  'express by hand'(file, statements) {
    const { statusOfBlock } = byHand(file, statements)
    return createServer(
      express().get(BLOCK_PATH, ({ params, headers }, response) => {
        response.status(statusOfBlock(params.org, params.user, headers.authorization)).end()
      }),
    )
  },
  async fastify(file) {
    const app = fastify()
    await app.register(middie)
    app.use('/api/v1', nodeHandler(api(file), { authenticate }))
    return startFastify(app)
  },
  'fastify by hand'(file, statements) {
    const { statusOfBlock } = byHand(file, statements)
    const app = fastify()
    app.get(BLOCK_PATH, ({ params, headers }, reply) =>
      reply.code(statusOfBlock(params.org, params.user, headers.authorization)).send(),
    )
    return startFastify(app)
  },
  hono(file) {
    const handler = fetchHandler(api(file), {
      basePath: '/api/v1',
      authenticate: (request) => tokens.get(request.headers.get('authorization')) ?? null,
    })
    return honoServer(new Hono().all('/api/v1/*', (context) => handler(context.req.raw, context)))
  },
  'hono by hand'(file, statements) {
    const { statusOfBlock } = byHand(file, statements)
    return honoServer(
      new Hono().get(BLOCK_PATH, (context) => {
        const { org, user } = context.req.param()
        return context.body(null, statusOfBlock(org, user, context.req.header('authorization')))
      }),
    )
  },
}

/** Those of forgelet: the same bytes. */
const KEY_HEADERS = {
  'Cache-Control': 'max-age=0, private, must-revalidate',
  'X-Content-Type-Options': 'nosniff',
  'Content-Type': 'text/plain; charset=utf-8',
  ETag: key.etag,
  'Content-Length': Buffer.byteLength(key.text),
}

async function startFastify(app) {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

function honoServer({ fetch }) {
  return createAdaptorServer({ fetch })
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runServer(variants)
