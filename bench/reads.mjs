// What do the reads cost on SQLite, as ratios to the same statements by hand in the same run? Each work and its floor take
// turns in short slices, forwards and backwards; compared is the CPU of each slice. Over HTTP, forgelet and a bare node:http
// server answer the same bytes, each in a process of its own. Answers are compared before anything is timed.
// Usage: npm run build && node bench/reads.mjs [slices]
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createForge } from 'forgelet'
import { createApi } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { sqliteStorage } from 'forgelet/storage/sqlite'

const ORGANIZATION = 7
const REPOSITORY = 9
const BLOCKS = 200
const SIZES = [1000, 10_000, 100_000, 1_000_000]
const BLOCK = `select note, blocked_at as blockedAt, cast(blocked_by as text) as blockedBy from forgelet_organization_blocks
  where organization_id = cast(? as integer) and user_id = cast(? as integer)`
const PINS = `select cast(issue_id as text) as issueId, pinned_at as pinnedAt, cast(pinned_by as text) as pinnedBy
  from forgelet_board_pins where repository_id = cast(? as integer) and kind = ? order by position`
const PAGE = `select cast(user_id as text) as userId, note, blocked_at as blockedAt, cast(blocked_by as text) as blockedBy
  from forgelet_organization_blocks where organization_id = ? order by seq limit ? offset ?`
const COUNT = 'select count(*) as total from forgelet_organization_blocks where organization_id = ?'
const PATHS = { pins: '/api/v1/repos/acme/rocket/issues/pinned', page: '/api/v1/orgs/acme/blocks?limit=30' }

/** Measures every read. Returns the ratio of the floor's CPU to that of the work, its spread, and the aim. */
export async function measure({ slices = 40 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-reads-'))
  try {
    const results = [await measureFind(join(folder, 'find.sqlite'), slices)]
    results.push(...(await measureHttp(join(folder, 'http.sqlite'), slices)))
    results.push(...(await measureGrowth(folder, slices)))
    return results
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function measureFind(file, slices) {
  const { forge, storage } = await filled(file)
  const handle = new Database(file, { readonly: true })
  const statement = handle.prepare(BLOCK)
  const work = () => forge.blocks.find('system', { organizationId: ORGANIZATION, userId: 55 })
  const floor = () => statement.get(ORGANIZATION, 55)
  const { note, blockedAt, blockedBy } = await work()
  assert.deepEqual({ note, blockedAt: blockedAt.getTime(), blockedBy }, { ...floor() })

  const ratios = await compare(
    slices,
    () => cpuOf(work, 400),
    () => cpuOf(floor, 400),
  )
  handle.close()
  await storage.close()
  return result('blocks.find as a service call', 'its statement alone', ratios, 0.65)
}

async function measureHttp(file, slices) {
  const { storage } = await filled(file)
  await storage.close()
  const results = []
  for (const [name, work, floor, reach] of [
    ['pins', 'pinned list of 3', 'bare node:http, its statement, JSON.stringify', 0.85],
    ['page', 'list page of 30', 'bare node:http, page and total by hand, JSON.stringify', 0.8],
  ]) {
    const servers = await Promise.all(['forge', 'bare'].map((kind) => start(kind, name, file)))
    const [forge, bare] = servers
    assert.deepEqual(await answerOf(bare, name), await answerOf(forge, name))
    for (const server of servers) await serverCpu(server, name, 3000)
    const ratios = await compare(
      slices,
      () => serverCpu(forge, name, 500),
      () => serverCpu(bare, name, 500),
    )
    for (const server of servers) server.child.kill()
    results.push(result(work, floor, ratios, reach))
  }
  return results
}

/** An audit page of each size against one of the smallest. The first page of a process counts all events; it is not timed. */
async function measureGrowth(folder, slices) {
  const views = []
  for (const size of SIZES) {
    const file = join(folder, `events-${size}.sqlite`)
    const storage = sqliteStorage(file)
    await storage.migrate()
    const handle = new Database(file)
    handle.exec(`insert into forgelet_events (type, version, at, actor_id, repository_id, issue_id, data)
      with recursive s(n) as (select 1 union all select n + 1 from s where n < ${size})
      select 'issue.pinned', 1, 1700000000000 + n, 1, n % 2, n % 1000, '{"position":1}' from s`)
    handle.close()
    const view = (filter) => storage.events.list(filter, { from: { page: 1 }, limit: 30 })
    assert.equal((await view({})).total, size)
    assert.equal((await view({ repositoryId: '1' })).total, size / 2)
    views.push({ size, storage, view })
  }
  const [smallest, ...larger] = views
  const results = []
  for (const { size, view } of larger) {
    for (const [of, filter] of [
      ['', {}],
      [', one repository', { repositoryId: '1' }],
    ]) {
      const ratios = await compare(
        slices,
        () => cpuOf(() => view(filter), 20),
        () => cpuOf(() => smallest.view(filter), 20),
      )
      results.push(
        result(
          `audit page of ${size} events${of}`,
          `${smallest.size} events`,
          ratios,
          size === 1_000_000 ? 1 / 3 : undefined,
        ),
      )
    }
  }
  for (const { storage } of views) await storage.close()
  return results
}

async function filled(file) {
  const storage = sqliteStorage(file)
  await storage.migrate()
  const forge = forgeOver(storage)
  for (let id = 1; id <= BLOCKS; id += 1) {
    await forge.blocks.block('system', { organizationId: ORGANIZATION, account: { kind: 'user', id }, note: 'spam' })
  }
  for (const id of [1, 2, 3]) await forge.pins.pin('system', { repositoryId: REPOSITORY, id, kind: 'issue' })
  return { forge, storage }
}

function forgeOver(storage) {
  return createForge({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
  })
}

/** Returns the ratios of pairs of slices: floor to work. */
async function compare(slices, work, floor) {
  for (let warm = 0; warm < 5; warm += 1) await Promise.all([await work(), await floor()])
  const ratios = []
  for (let slice = 0; slice < slices; slice += 1) {
    const first = slice % 2 === 0 ? await work() : undefined
    const below = await floor()
    ratios.push(below / (first ?? (await work())))
  }
  return ratios.sort((one, other) => one - other)
}

async function cpuOf(work, times) {
  const before = process.cpuUsage()
  for (let time = 0; time < times; time += 1) {
    const value = work()
    if (value instanceof Promise) await value
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

function result(work, floor, ratios, reach) {
  const at = (part) => ratios[Math.floor((ratios.length - 1) * part)]
  return { work, floor, ratio: at(0.5), low: at(0.1), high: at(0.9), reach }
}

async function start(kind, name, file) {
  const child = fork(import.meta.filename, ['serve', kind, name, file])
  const [{ port }] = await once(child, 'message')
  return { child, agent: new Agent({ keepAlive: true, maxSockets: 8 }), port }
}

async function serverCpu(server, name, times) {
  const before = await usageOf(server)
  const each = Array.from({ length: 8 }, async () => {
    for (let time = 0; time < times / 8; time += 1) await answerOf(server, name)
  })
  await Promise.all(each)
  return ((await usageOf(server)) - before) / times
}

async function usageOf({ child }) {
  child.send('cpu')
  const [{ user, system }] = await once(child, 'message')
  return user + system
}

function answerOf({ agent, port }, name) {
  return new Promise((resolve, reject) => {
    request({ agent, port, path: PATHS[name], headers: { authorization: 'token olga' } }, async (response) => {
      const parts = await response.toArray()
      resolve({
        status: response.statusCode,
        total: response.headers['x-total-count'],
        body: Buffer.concat(parts).toString(),
      })
    })
      .on('error', reject)
      .end()
  })
}

const users = new Map(Array.from({ length: BLOCKS + 1 }, (_, id) => [String(id), { id, login: `user-${id}` }]))
const issues = new Map([1, 2, 3].map((id) => [String(id), { id, number: id, title: `Issue ${id}`, state: 'open' }]))

async function serve(kind, name, file) {
  const listener = kind === 'forge' ? await forgeListener(file) : await bareListener(name, file)
  const server = createServer(listener).listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
  process.on('message', () => process.send(process.cpuUsage()))
}

function forgeListener(file) {
  const api = createApi(forgeOver(sqliteStorage(file)), {
    directory: {
      findAccount: () => ({ kind: 'organization', id: ORGANIZATION }),
      findRepository: () => ({ id: REPOSITORY }),
      findIssue: () => undefined,
    },
    present: {
      users: (ids) => ids.map((id) => users.get(id)),
      issues: (ids) => ids.map((id) => issues.get(id)),
      pullRequests: (ids) => ids.map(() => undefined),
    },
  })
  return nodeHandler(api, { authenticate: () => ({ id: 1 }), basePath: '/api/v1' })
}

function bareListener(name, file) {
  const handle = new Database(file, { readonly: true })
  const [pins, page, count] = [PINS, PAGE, COUNT].map((sql) => handle.prepare(sql))
  const answers = {
    pins() {
      const rows = pins.all(REPOSITORY, 'issue')
      return {
        total: rows.length,
        items: rows.map(({ issueId }, at) => ({ ...issues.get(issueId), pin_order: at + 1 })),
      }
    },
    page() {
      const { total } = count.get(ORGANIZATION)
      return { total, items: page.all(ORGANIZATION, 30, 0).map(({ userId }) => users.get(userId)) }
    },
  }
  return (_, response) => {
    const { total, items } = answers[name]()
    const body = JSON.stringify(items)
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-total-count': total,
    })
    response.end(body)
  }
}

if (process.argv[2] === 'serve') await serve(...process.argv.slice(3))
else if (process.argv[1] === import.meta.filename) {
  for (const { work, floor, ratio, low, high, reach } of await measure({ slices: Number(process.argv[2] ?? 40) })) {
    const aim = reach === undefined ? '' : `  aim ${reach.toFixed(2)}`
    console.log(`${work.padEnd(46)}${ratio.toFixed(2)} [${low.toFixed(2)}-${high.toFixed(2)}]${aim}  of ${floor}`)
  }
}
