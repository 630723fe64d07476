// The servers of bench/writes.mjs: `node bench/writes-server.mjs VARIANT FILE`. Both block users of one organization for its owner,
// and write the same rows into a file of their own: through forgelet, which syncs every commit (synchronous = FULL), or by hand in
// one transaction for each request, which is not synced (NORMAL). Both count the changes of each transaction.
import { createServer } from 'node:http'
import Database from 'better-sqlite3'
import { createForge, rolePolicy } from 'forgelet'
import { createApi } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { runServer } from './harness.mjs'

const ORGANIZATION = 1000
const OLGA = { id: 5000 }
const tokens = new Map([['token olga', OLGA]])
const owners = new Map([[ORGANIZATION, OLGA.id]])
const groups = new Map()
/** The headers of every response. */
const ALWAYS = { 'Cache-Control': 'max-age=0, private, must-revalidate', 'X-Content-Type-Options': 'nosniff' }

function forgelet(file) {
  watchGroups()
  const forge = createForge({
    storage: sqliteStorage(file),
    policy: rolePolicy({
      isSiteAdmin: () => false,
      repositoryRole: () => 'none',
      organizationRole: (id, { actor }) => (owners.get(Number(id)) === actor.id ? 'owner' : 'stranger'),
    }),
    membership: { isMember: (organizationId, userId) => isMember(Number(organizationId), Number(userId)) },
  })
  const api = createApi(forge, {
    directory: { findAccount, findRepository: () => undefined, findIssue: () => undefined },
    present: { users: () => [], issues: () => [], pullRequests: () => [] },
  })
  return { server: createServer(nodeHandler(api, { authenticate, basePath: '/api/v1' })), report }
}

function byHand(file) {
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
    count(1)
    return 204
  }).immediate

  const server = createServer((request, response) => {
    const status = statusOf(request)
    response.writeHead(status, status === 204 ? ALWAYS : { 'Content-Length': 0 }).end()
  })
  return { server, report }

  function statusOf({ method, url, headers }) {
    const [path, query = ''] = url.split('?')
    const [, , , scope, org, things, name] = path.split('/')
    if (method !== 'PUT' || scope !== 'orgs' || things !== 'blocks') return 404
    const organization = findAccount(org)
    if (organization?.kind !== 'organization') return 404
    const actor = tokens.get(headers.authorization)
    if (actor === undefined) return 401
    if (owners.get(organization.id) !== actor.id) return 403
    const user = findAccount(name)
    if (user?.kind !== 'user') return 404
    const note = new URLSearchParams(query).get('note') ?? ''
    if (note.length > 255 || user.id === actor.id || isMember(organization.id, user.id)) return 422
    return block(organization.id, user.id, note, actor.id)
  }
}

/** The name of a user says the id: there are as many as there are requests. */
function findAccount(name) {
  if (name === 'acme') return { kind: 'organization', id: ORGANIZATION }
  return name.startsWith('user-') ? { kind: 'user', id: Number(name.slice(5)) } : undefined
}

function isMember(organizationId, userId) {
  return owners.get(organizationId) === userId
}

function authenticate(request) {
  return tokens.get(request.headers.authorization) ?? null
}

/** Counts the changes of each transaction of forgelet: each change has a savepoint. */
function watchGroups() {
  const { prepare } = Database.prototype
  let size = 0
  const seen = new Map([
    [
      'savepoint forgelet',
      () => {
        size += 1
      },
    ],
    [
      'commit',
      () => {
        count(size)
        size = 0
      },
    ],
  ])
  Database.prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql)
    const see = seen.get(sql)
    if (see === undefined) return statement
    const run = statement.run.bind(statement)
    statement.run = () => {
      see()
      return run()
    }
    return statement
  }
}

function count(size) {
  groups.set(size, (groups.get(size) ?? 0) + 1)
}

/** The sizes of the transactions since the last report, with how often each occurred. */
function report() {
  const sizes = [...groups]
  groups.clear()
  return { groups: sizes }
}

await runServer({ forgelet, 'by hand': byHand })
