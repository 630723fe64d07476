// The servers of http.mjs: `node bench/http-server.mjs VARIANT FILE STATEMENTS`. All use SQLite and belong to the same
// host: accounts and issues in maps, one token, and Olga, who owns the organization and the repository. By hand, a server looks up
// and decides what forgelet looks up and decides, runs the statements that forgelet runs, and sends the same response.
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import express from 'express'
import { createForge, rolePolicy } from 'forgelet'
import { expressHandler } from 'forgelet/express'
import { createApi } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { runServer } from './servers.mjs'

const ORGANIZATION = 1000
const REPOSITORY = 10
const OLGA = { id: 5000 }
const PINNED = [101, 102, 103]
export const BLOCKED = 1000
export const TOKEN = 'token olga'

const tokens = new Map([[TOKEN, OLGA]])
const owners = new Map([[ORGANIZATION, OLGA.id]])
const admins = new Map([[REPOSITORY, OLGA.id]])
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
/** The changes block more users than any map has: the name of such a user says the id. */
function findAccount(name) {
  return accounts.get(name) ?? (name.startsWith('user-') ? { kind: 'user', id: Number(name.slice(5)) } : undefined)
}

/** The headers of every response. */
const ALWAYS = { 'Cache-Control': 'max-age=0, private, must-revalidate', 'X-Content-Type-Options': 'nosniff' }
const EMPTY = { 'Content-Length': 0 }

/** Makes the forge of this host. */
export function openForge(storage) {
  return createForge({
    storage,
    services: ['pins', 'blocks'],
    policy: rolePolicy({
      isSiteAdmin: () => false,
      repositoryRole: (id, { actor }) => (admins.get(Number(id)) === actor.id ? 'admin' : 'none'),
      organizationRole: (id, { actor }) => (owners.get(Number(id)) === actor.id ? 'owner' : 'stranger'),
    }),
    membership: { isMember: () => false },
  })
}

/** Writes the rows that the servers read. */
export async function fill(forge) {
  for (let id = 0; id < BLOCKED; id += 1) {
    await forge.blocks.block('system', { organizationId: ORGANIZATION, account: { kind: 'user', id } })
  }
  for (const id of PINNED) await forge.pins.pin('system', { id, repositoryId: REPOSITORY, kind: 'issue' })
}

function openApi(file) {
  return createApi(openForge(sqliteStorage(file)), {
    directory: {
      findAccount,
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

function authenticate(request) {
  return tokens.get(request.headers.authorization) ?? null
}

/** Why a caller may not see or change the blocks of an organization. */
function refusalOf(organization, authorization) {
  if (organization?.kind !== 'organization') return 404
  const user = tokens.get(authorization)
  if (user === undefined) return 401
  return owners.get(organization.id) === user.id ? undefined : 403
}

/** What a server by hand does for a block check and the list of pins. */
function byHand(file, statements) {
  const handle = new Database(file, { readonly: true })
  const [block, board] = JSON.parse(statements).map((sql) => handle.prepare(sql))

  return {
    statusOfBlock(org, name, authorization) {
      const organization = accounts.get(org)
      const refusal = refusalOf(organization, authorization)
      if (refusal !== undefined) return refusal
      const account = findAccount(name)
      return account !== undefined && block.get(organization.id, account.id) !== undefined ? 204 : 404
    },
    pinned(owner, name, authorization) {
      const repository = repositories.get(`${owner}/${name}`)
      const user = tokens.get(authorization)
      if (repository === undefined || admins.get(repository.id) !== user?.id) return { status: 404, headers: EMPTY }
      const rows = board.all(repository.id, 'issue')
      // Faster than a spread in front of a new property.
      const list = rows.map((row, at) => Object.assign({}, issues.get(Number(row.issueId)), { pin_order: at + 1 }))
      const body = JSON.stringify(list)
      const headers = {
        ...ALWAYS,
        'Content-Type': 'application/json;charset=utf-8',
        'X-Total-Count': list.length,
        'Access-Control-Expose-Headers': 'X-Total-Count',
        'Content-Length': Buffer.byteLength(body),
      }
      return { status: 200, headers, body }
    },
  }
}

/** Blocks users in one transaction for each request, which is not synced. */
function blockingByHand(file) {
  const handle = new Database(file)
  handle.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on')
  const findHead = handle.prepare('select total, next_seq, retired from forgelet_heads where scope = ? and key = ?')
  const findBlock = handle.prepare(
    'select 1 from forgelet_organization_blocks where organization_id = ? and user_id = ?',
  )
  const saveHead = handle.prepare(
    'insert into forgelet_heads (scope, key, version, epoch, retired, total, next_seq) values (?, ?, 1, 0, 0, ?, ?) ' +
      'on conflict (scope, key) do update set version = version + 1, total = excluded.total, next_seq = excluded.next_seq',
  )
  const addBlock = handle.prepare(
    'insert into forgelet_organization_blocks (organization_id, user_id, seq, note, blocked_at, blocked_by) values (?, ?, ?, ?, ?, ?)',
  )
  const addEvent = handle.prepare(
    'insert into forgelet_events (type, version, at, actor_id, organization_id, user_id, data) values (?, 1, ?, ?, ?, ?, ?)',
  )
  const block = handle.transaction((organizationId, userId, note, actorId) => {
    if (findHead.get('user', String(userId))?.retired === 1) return 404
    const head = findHead.get('organization', String(organizationId)) ?? { total: 0, next_seq: 1, retired: 0 }
    if (head.retired === 1) return 404
    if (findBlock.get(organizationId, userId) !== undefined) return 422
    const at = Date.now()
    addBlock.run(organizationId, userId, head.next_seq, note, at, actorId)
    saveHead.run('organization', String(organizationId), head.total + 1, head.next_seq + 1)
    addEvent.run('user.blocked', at, actorId, organizationId, userId, JSON.stringify({ note }))
    return 204
  }).immediate

  return ({ method, url, headers }) => {
    const [path, query = ''] = url.split('?')
    const [, , , scope, org, things, name] = path.split('/')
    if (method !== 'PUT' || scope !== 'orgs' || things !== 'blocks') return 404
    const organization = findAccount(org)
    const refusal = refusalOf(organization, headers.authorization)
    if (refusal !== undefined) return refusal
    const user = findAccount(name)
    if (user?.kind !== 'user') return 404
    const note = new URLSearchParams(query).get('note') ?? ''
    if (note.length > 255 || user.id === OLGA.id) return 422
    return block(organization.id, user.id, note, OLGA.id)
  }
}

const variants = {
  'writes by hand'(file) {
    const statusOf = blockingByHand(file)
    return createServer((request, response) => {
      const status = statusOf(request)
      response.writeHead(status, status === 204 ? ALWAYS : EMPTY).end()
    })
  },
  node: (file) => createServer(nodeHandler(openApi(file), { authenticate, basePath: '/api/v1' })),
  'node by hand'(file, statements) {
    const { statusOfBlock, pinned } = byHand(file, statements)
    return createServer((request, response) => {
      const { url, headers } = request
      const [, , , scope, one, two, three] = url.split('/')
      if (scope === 'orgs') {
        const status = statusOfBlock(one, three, headers.authorization)
        response.writeHead(status, status === 204 ? ALWAYS : EMPTY).end()
      } else {
        const { status, headers: sent, body } = pinned(one, two, headers.authorization)
        response.writeHead(status, sent).end(body)
      }
    })
  },
  express: (file) => createServer(express().use('/api/v1', expressHandler(openApi(file), { authenticate }))),
  'express by hand'(file, statements) {
    const { statusOfBlock } = byHand(file, statements)
    return createServer(
      express().get('/api/v1/orgs/:org/blocks/:user', ({ params, headers }, response) => {
        response
          .status(statusOfBlock(params.org, params.user, headers.authorization))
          .set(ALWAYS)
          .end()
      }),
    )
  },
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runServer(variants)
